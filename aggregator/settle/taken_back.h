/*
 * taken_back.h - rows that an operator took back: `collector import --undo`
 * deletes those of an import, and writes down how many it takes of which hour.
 *
 * An hour or day has fewer rows for that reason alone when it lacks no more
 * than was taken since it was published.
 */
#ifndef AGGREGATOR_SETTLE_TAKEN_BACK_H
#define AGGREGATOR_SETTLE_TAKEN_BACK_H

#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct taken_back {
	uint64_t rows;	/* since, and those under way */
	uint64_t going; /* under way: some of them may be there, and the
			 * reports of those that are not */
};

/* How many rows of the hours in [from, to), seconds, were taken after `attempt`
 * was picked (settling_attempt_at). */
int taken_back_count(struct clickhouse *ch, int64_t from, int64_t to,
		     uint64_t attempt, struct taken_back *ret,
		     struct error *err);

#endif
