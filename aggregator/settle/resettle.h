/*
 * resettle.h - settles all of a range again, whatever was published of it.
 *
 * It needs no lease: attempts are its own, and an aggregator that settles the
 * same hour meanwhile counts the same rows.
 */
#ifndef AGGREGATOR_SETTLE_RESETTLE_H
#define AGGREGATOR_SETTLE_RESETTLE_H

#include "aggregator/settle/settling.h"

struct resettle_result {
	size_t hours, days; /* published */
	size_t held;	    /* of both: not published */
};

/* [from, to), seconds since 1970: the hours that it touches, then those of the
 * days it touches that have closed. */
int resettle_run(const struct settling *s, int64_t from, int64_t to,
		 struct resettle_result *ret, struct error *err);

#endif
