/*
 * reconciled_hours.h - results of reconciliation by hour, kept in the table of
 * that name: for hours whose rows are dropped, and for sums over a day that
 * need not be counted again.
 */
#ifndef AGGREGATOR_RECONCILE_RECONCILED_HOURS_H
#define AGGREGATOR_RECONCILE_RECONCILED_HOURS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/reconcile/reconcile.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/*
 * Stores all hours but those that are gone.  A repetition does no harm: the
 * newest row of an hour counts, which is the one stored last even if
 * ClickHouse's clock was set back in between.
 */
int reconciled_hours_store(struct clickhouse *ch,
			   const struct reconciliation *r, struct error *err);

/* Finds out which of r->hours are gone, and reads what was kept of them. */
int reconciled_hours_recall(struct clickhouse *ch, struct reconciliation *r,
			    struct error *err);

/*
 * Returns the `count` hours up to the last kept one that the watermark has
 * passed, as they were kept; none if there is none.  The caller calls
 * reconciliation_release, also after a failure.
 */
int reconciled_hours_last(struct clickhouse *ch, size_t count,
			  struct reconciliation *ret, struct error *err);

/* Whether all hours of a UTC day (its start, seconds) were reconciled since
 * that attempt sealed it. */
int reconciled_hours_has_day(struct clickhouse *ch, int64_t day,
			     uint64_t sealed_by, bool *ret, struct error *err);

/*
 * Returns the first UTC day (seconds) that was sealed again since its hours
 * were last reconciled, and is not dropped; -1: there is none.  It compares
 * numbers of attempts, which only grow, not clocks.
 */
int reconciled_hours_due(struct clickhouse *ch, int64_t *ret_day,
			 struct error *err);

#endif
