/*
 * progress.h - what the collectors have inserted, against what is settled.
 *
 * Everything is learnt from `ingest_progress` and `settled`.  An hour is stale
 * when the blocks that touched it, or their clicks, are not those it was
 * settled from: comparing sums needs no order among collectors and no exact
 * position, so that a restart, a block told of twice or a clock that is behind
 * loses nothing.
 *
 * Others than collectors write there too: an import (topic `import:<file>`) and
 * `collector rescore` (topic `rescore`, with hours that it added no rows to).
 * They make hours stale as any block does; the watermark does not wait for
 * them.  Nor does it for a topic that is told of with no partitions (`links`).
 */
#ifndef AGGREGATOR_SETTLE_PROGRESS_H
#define AGGREGATOR_SETTLE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/* An hour or day that has to be settled, and what it is settled from. */
struct stale {
	int64_t start; /* seconds since 1970, UTC */
	uint64_t blocks;
	uint64_t rows;
};

struct stale_list {
	struct stale *items; /* ascending */
	size_t count;
};
void stale_list_release(struct stale_list *list);

/* How far the last complete pass had come.  Zeros before the first. */
struct progress {
	int64_t read_until;	/* ms: greatest inserted_at seen */
	int64_t complete_until; /* ms; 0: not known */
	uint64_t attempt;	/* greatest number used */
};
int progress_read_last(struct clickhouse *ch, struct progress *ret,
		       struct error *err);

/*
 * The watermark, before `edge_delay_ms` is taken off: the least, over all
 * partitions of the newest epoch, of the newest append time told.  0 when a
 * partition has not been heard of.
 */
int progress_watermark(struct clickhouse *ch, int64_t *ret_ms,
		       struct error *err);

/* The greatest inserted_at there is, or 0. */
int progress_read_until(struct clickhouse *ch, int64_t *ret_ms,
			struct error *err);

/* Hours touched by blocks inserted at `since_ms` or later that are stale. */
int progress_stale_hours(struct clickhouse *ch, int64_t since_ms,
			 struct stale_list *ret, struct error *err);

/*
 * Days that ended before `closed_before_ms`, whose hours have been settled from
 * other blocks than the day was, and that were not settled after
 * `not_since_ms`.
 */
int progress_stale_days(struct clickhouse *ch, int64_t closed_before_ms,
			int64_t not_since_ms, struct stale_list *ret,
			struct error *err);

#endif
