/*
 * value_days.h - the values of those dimensions that hours are not settled by
 * (DIMENSION_DAILY), by UTC day: of all links in day_values, of each owner in
 * owner_values (schemas/clickhouse/0050_day_values.sql).  Counts, no visitors.
 */
#ifndef AGGREGATOR_SETTLE_VALUE_DAYS_H
#define AGGREGATOR_SETTLE_VALUE_DAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/settle/settling.h"
#include "common/error.h"

/* The days that are to be copied, and the first of them (seconds since 1970),
 * or -1. */
int value_days_pending(const struct settling *s, uint64_t *ret_days,
		       int64_t *ret_first, struct error *err);

/* Copies the first such day after `after`; see day_copy_next. */
int value_days_next(const struct settling *s, int64_t after,
		    const struct progress *last, int64_t *ret_start,
		    bool *ret_done, struct error *err);

/* Deletes rows of both tables whose attempt was begun before `before_ms` and is
 * not read. */
int value_days_clean(struct clickhouse *ch, int64_t before_ms,
		     struct error *err);

#endif
