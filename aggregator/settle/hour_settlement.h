/*
 * hour_settlement.h - settles hours into stats_hourly and publishes them.
 */
#ifndef AGGREGATOR_SETTLE_HOUR_SETTLEMENT_H
#define AGGREGATOR_SETTLE_HOUR_SETTLEMENT_H

#include "aggregator/settle/open_hours.h"
#include "aggregator/settle/settling.h"

/*
 * Computes the first of the hours (in ascending order) under new attempts,
 * compares the staged events with the rows of `clicks`, and publishes together
 * the hours that are not held back.  A statement covers one hour, or several
 * that have few rows.  After at least one statement it stops early: at `until`
 * (monotonic ms), before the first hour becomes too old to be published, when a
 * statement fails, or before an hour that is settled by what arrived
 * (open_hours.h), which is settled alone.  `open`: frontiers of such hours;
 * NULL: all hours are settled from all rows.  `last`: attempts are greater than
 * its; rows of `settled` get from it how far was read.
 *
 * ret->done is at least 1, also on failure: these hours were tried, and any of
 * them may be the one that failed.
 */
int hours_settle(const struct settling *s, const struct stale *hours,
		 size_t count, int64_t until, struct open_hours *open,
		 const struct progress *last, struct settle_count *ret,
		 struct error *err);

#endif
