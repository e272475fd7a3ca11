/*
 * reconciled_hours.h - what was found of each hour, kept in the table of that
 * name: for hours whose rows are dropped, and for sums of a day that nobody has
 * to count again.
 */
#ifndef AGGREGATOR_RECONCILE_RECONCILED_HOURS_H
#define AGGREGATOR_RECONCILE_RECONCILED_HOURS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/reconcile/reconcile.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/* Keeps all but those that are gone.  Once more is no harm: of each hour the
 * newest row counts, which is the one kept last, though ClickHouse's clock was
 * set back since the one before. */
int reconciled_hours_store(struct clickhouse *ch,
			   const struct reconciliation *r, struct error *err);

/* Finds out which of r->hours are gone, and takes what was kept of these. */
int reconciled_hours_recall(struct clickhouse *ch, struct reconciliation *r,
			    struct error *err);

/* The `count` hours up to the last one that was kept and that the watermark has
 * passed, as they were kept; none if there is none.  Release with
 * reconciliation_release, also after a failure.
 */
int reconciled_hours_last(struct clickhouse *ch, size_t count,
			  struct reconciliation *ret, struct error *err);

/* SQL: days that were reconciled, by the newest rows of their hours: d (start,
 * seconds since 1970), n_kept (hours) and n_first (the least attempt by which
 * the day was sealed when one of them was looked at). */
#define SQL_RECONCILED_DAYS                                                    \
	"(SELECT toUInt64(toUInt32(toStartOfDay(h))) AS d, count() AS "        \
	"n_kept, min(k) AS n_first FROM (SELECT hour AS h, "                   \
	"argMax(sealed_by, reconciled_at) AS k FROM reconciled_hours "         \
	"GROUP BY hour) GROUP BY d)"

/* Whether all hours of a UTC day (its start, seconds) were looked at since it
 * was sealed by that attempt. */
int reconciled_hours_has_day(struct clickhouse *ch, int64_t day,
			     uint64_t sealed_by, bool *ret, struct error *err);

/* The first UTC day (seconds) that was sealed anew since its hours were last
 * looked at, and is not dropped; -1: there is none.  No clock says so, but the
 * numbers of attempts, which only grow. */
int reconciled_hours_due(struct clickhouse *ch, int64_t *ret_day,
			 struct error *err);

#endif
