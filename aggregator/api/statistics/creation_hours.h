/*
 * creation_hours.h - which settled hours of links created an answer reads, and
 * the times whose rows it counts itself.
 */
#ifndef AGGREGATOR_API_STATISTICS_CREATION_HOURS_H
#define AGGREGATOR_API_STATISTICS_CREATION_HOURS_H

#include <stddef.h>

#include "aggregator/api/call.h"
#include "aggregator/api/statistics/question.h"
#include "aggregator/zone/buckets.h"
#include "common/buf.h"
#include "common/error.h"

struct creation_hours {
	size_t count; /* settled hours */
	/* Arrays for parameters. */
	struct buf starts, attempts;
	/* SQL: a condition on `slot`, the rest of the range; "": nothing is
	 * left. */
	struct buf spans;
};

/* Takes the settled hours that lie in one bucket of the range each.  Release
 * also after a failure. */
int creation_hours_read(struct creation_hours *ret, struct call *call,
			const struct question *q, const struct buckets *buckets,
			struct error *err);
void creation_hours_release(struct creation_hours *hours);

#endif
