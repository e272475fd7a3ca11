/*
 * days.h - settles closed UTC days into clicks_hourly and visit_statistics.
 */
#ifndef AGGREGATOR_SETTLE_DAYS_H
#define AGGREGATOR_SETTLE_DAYS_H

#include <stdbool.h>

#include "aggregator/settle/progress.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/* Asked before each swap; false stops it. */
typedef bool days_may_swap_fn(void *arg, struct error *err);

/*
 * Computes the day into staging tables of its own and swaps them in with
 * REPLACE PARTITION: readers see the old day or the new one.  Staging tables
 * are named by chance, so that two settlers never write into one, and are
 * dropped in the end.
 */
int days_settle(struct clickhouse *ch, const struct stale *day,
		days_may_swap_fn *may_swap, void *arg, struct error *err);

/* Drops staging tables that a killed settler left behind more than a day
 * ago. */
int days_drop_left_over(struct clickhouse *ch, struct error *err);

#endif
