/*
 * owner_days.h - clicks of owners by UTC day, in tables of their own (see
 * schemas/clickhouse/0036_owner_days.sql): by slot with visitors, and by the
 * values of each settled dimension.
 */
#ifndef AGGREGATOR_SETTLE_OWNER_DAYS_H
#define AGGREGATOR_SETTLE_OWNER_DAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/settle/settling.h"
#include "common/error.h"

/* What owner_slots keeps of a visitor and of an address; see there. */
#define SQL_OWNER_VISITOR                                                      \
	"toUInt32(bitShiftRight(cityHash64(unique_identity), 32))"
#define SQL_OWNER_ADDRESS                                                      \
	"toUInt32(bitShiftRight(cityHash64(reinterpretAsFixedString(ip)), "    \
	"32))"

/* The days that are to be copied, and the first of them (seconds since 1970),
 * or -1. */
int owner_days_pending(const struct settling *s, uint64_t *ret_days,
		       int64_t *ret_first, struct error *err);

/* Copies the first such day after `after`; see day_copy_next. */
int owner_days_next(const struct settling *s, int64_t after,
		    const struct progress *last, int64_t *ret_start,
		    bool *ret_done, struct error *err);

/* Deletes rows of both tables whose attempt was begun before `before_ms` and is
 * not read. */
int owner_days_clean(struct clickhouse *ch, int64_t before_ms,
		     struct error *err);

#endif
