/*
 * dropped_days.h - the days whose rows of `clicks` an aggregator has dropped:
 * they cannot be compared or classified again.
 */
#ifndef COLLECTOR_TOOLS_DROPPED_DAYS_H
#define COLLECTOR_TOOLS_DROPPED_DAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/* Returns the end of the last of them, ms since 1970; 0: none. */
int dropped_days_end(struct clickhouse *ch, int64_t *ret_ms, struct error *err);

/* Returns whether that day is one of them; `day` counts from 1970. */
int dropped_days_has(struct clickhouse *ch, int64_t day, bool *ret,
		     struct error *err);

#endif
