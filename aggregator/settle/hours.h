/*
 * hours.h - settles hours into stats_hourly and publishes them.
 */
#ifndef AGGREGATOR_SETTLE_HOURS_H
#define AGGREGATOR_SETTLE_HOURS_H

#include "aggregator/settle/open_hours.h"
#include "aggregator/settle/settling.h"

/* At most so many hours at once; they are published together. */
#define HOURS_MAX 24

/*
 * Computes the hours, which are in ascending order and HOURS_MAX at most, under
 * new attempts, compares what was staged with the rows of `clicks`, and
 * publishes those that are not held back.  Stops early, but after one at least,
 * when it takes so long that the first would soon be too old to be published,
 * or before one that is settled by what arrived (open_hours.h): that is done
 * alone. `open`: frontiers of those; NULL: all hours are settled from all rows.
 * `last`: attempts are greater than its; it is what the rows of `settled` say
 * of how far was read.
 */
int hours_settle(const struct settling *s, const struct stale *hours,
		 size_t count, struct open_hours *open,
		 const struct progress *last, struct settle_count *ret,
		 struct error *err);

#endif
