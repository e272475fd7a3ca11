/*
 * seal.h - sealed days: clicks and visitors of links in a table by month.
 *
 * A day is sealed once its link_day was settled from all its hours,
 * `late_window` after its end, and once more whenever something of it was
 * published later.  It is sealed only while `clicks` has as many rows of links
 * as its link_day counts: not while clicks come in, nor after rows have gone.
 * Days that were dropped are sealed from their base and what came after it.
 */
#ifndef AGGREGATOR_SETTLE_SEAL_H
#define AGGREGATOR_SETTLE_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/settle/settling.h"
#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/* A day that can be read from sealed_slots. */
struct sealed_day {
	int64_t start;	  /* seconds since 1970, UTC */
	uint64_t attempt; /* its rows' */
};

struct sealed_days {
	struct sealed_day *items; /* ascending */
	size_t count;
	/* Where rows of `clicks` begin that were not dropped, and settled
	 * counts, seconds since 1970; 0: nothing was. */
	int64_t rows_from, kept_from;
};
int sealed_days_read(struct clickhouse *ch, struct sealed_days *ret,
		     struct error *err);
void sealed_days_release(struct sealed_days *days);

/* Writes their starts and their attempts as arrays, for parameters. */
int sealed_days_put(const struct sealed_days *days, struct buf *starts,
		    struct buf *attempts, struct error *err);

/* The days that are to be sealed, and the first of them (seconds since 1970),
 * or -1. */
int seal_pending(const struct settling *s, uint64_t *ret_days,
		 int64_t *ret_first, struct error *err);

/*
 * Seals the first day after `after` (seconds since 1970, its start) that is to
 * be. *ret_start is that day, -1 when there is none; *ret_sealed is false when
 * its rows are not those that were settled.
 */
int seal_next(const struct settling *s, int64_t after,
	      const struct progress *last, int64_t *ret_start, bool *ret_sealed,
	      struct error *err);

/* Deletes rows of sealed_slots whose attempt was begun before `before_ms` and
 * is not read. */
int seal_clean(struct clickhouse *ch, int64_t before_ms, struct error *err);

#endif
