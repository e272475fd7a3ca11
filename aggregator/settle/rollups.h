/*
 * rollups.h - counts over all links by whole UTC days, and their totals by the
 * hour, united from the slots of stats_hourly (see
 * schemas/clickhouse/0039_stats_rollups.sql).
 */
#ifndef AGGREGATOR_SETTLE_ROLLUPS_H
#define AGGREGATOR_SETTLE_ROLLUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/settle/settling.h"
#include "common/error.h"

/* The days that are to be rolled up, and the first of them (seconds since
 * 1970), or -1. */
int rollups_pending(const struct settling *s, uint64_t *ret_days,
		    int64_t *ret_first, struct error *err);

/* Rolls up the first such day after `after`; see day_copy_next. */
int rollups_next(const struct settling *s, int64_t after,
		 const struct progress *last, int64_t *ret_start,
		 bool *ret_done, struct error *err);

/* Deletes rows whose attempt was begun before `before_ms` and is not read. */
int rollups_clean(struct clickhouse *ch, int64_t before_ms, struct error *err);

#endif
