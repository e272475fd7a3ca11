/*
 * seal.h - sealed days: clicks and visitors of links in a table by month.
 *
 * A day is sealed as day_copy.h says, `late_window` after its end.
 */
#ifndef AGGREGATOR_SETTLE_SEAL_H
#define AGGREGATOR_SETTLE_SEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/settle/settling.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/* The days that are to be sealed, and the first of them (seconds since 1970),
 * or -1. */
int seal_pending(const struct settling *s, uint64_t *ret_days,
		 int64_t *ret_first, struct error *err);

/*
 * Seals the first day after `after` (seconds since 1970, its start) that is to
 * be. *ret_start is that day, -1 when there is none, and left as it was when
 * that cannot be told; *ret_sealed is false when its rows are not those that
 * were settled.
 */
int seal_next(const struct settling *s, int64_t after,
	      const struct progress *last, int64_t *ret_start, bool *ret_sealed,
	      struct error *err);

/* Deletes rows of sealed_slots whose attempt was begun before `before_ms` and
 * is not read. */
int seal_clean(struct clickhouse *ch, int64_t before_ms, struct error *err);

#endif
