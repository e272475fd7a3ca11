/*
 * hours.h - settles hours into stats_hourly and publishes them.
 */
#ifndef AGGREGATOR_SETTLE_HOURS_H
#define AGGREGATOR_SETTLE_HOURS_H

#include "aggregator/settle/open_hours.h"
#include "aggregator/settle/settling.h"

/*
 * Computes the first of the hours, which are in ascending order, under new
 * attempts, compares what was staged with the rows of `clicks`, and publishes
 * together those that are not held back.  A statement is of one hour, or of
 * some of few rows.  Stops early, but after one statement at least: at `until`
 * (monotonic ms), when the first would soon be too old to be published, when a
 * statement fails, or before an hour that is settled by what arrived
 * (open_hours.h): that is done alone.
 * `open`: frontiers of those; NULL: all hours are settled from all rows.
 * `last`: attempts are greater than its; it is what the rows of `settled` say
 * of how far was read.
 *
 * ret->done is 1 at least, and also set on failure: these were tried, and any
 * of them may have been what failed.
 */
int hours_settle(const struct settling *s, const struct stale *hours,
		 size_t count, int64_t until, struct open_hours *open,
		 const struct progress *last, struct settle_count *ret,
		 struct error *err);

#endif
