/*
 * day_settlement.h - settles closed UTC days into link_slots and link_days.
 */
#ifndef AGGREGATOR_SETTLE_DAY_SETTLEMENT_H
#define AGGREGATOR_SETTLE_DAY_SETTLEMENT_H

#include "aggregator/settle/settling.h"

/*
 * Computes the day into both tables under one new attempt, compares the staged
 * events with the rows of `clicks`, and publishes the day.  A day for which
 * `clicks` has fewer rows than its hours were settled from is held back.
 */
int days_settle(const struct settling *s, const struct stale *day,
		const struct progress *last, struct settle_count *ret,
		struct error *err);

#endif
