/*
 * due_feed.h - the due ranges of a space, in portions of bounded size.
 *
 * The set of due ranges is fixed when the first portion is taken, so that
 * blocks which get a new score in the future do not come up again and a run
 * ends.
 */
#ifndef RECLAIMER_SPACE_DUE_FEED_H
#define RECLAIMER_SPACE_DUE_FEED_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "common/redis/redis.h"
#include "linkstore/linkstore.h"
#include "reclaimer/space/settle_plan.h"

/* Selects the ranges that were to be scanned from `from` to `until`, ms by
 * Redis' clock.  An `until` in the future means now. */
struct due_span {
	int64_t from;  /* 0: no lower bound */
	int64_t until; /* 0: now */
};

struct due_feed;

/* `room`: ranges kept at once.  `peek`: the caller settles nothing, so that
 * taken ranges stay due and are skipped. */
struct due_feed *due_feed_new(struct redis *redis,
			      const struct link_space *space,
			      struct due_span span, size_t room, bool peek,
			      struct error *err);
void due_feed_free(struct due_feed *f); /* NULL accepted */

/*
 * Takes the next ranges, at most `blocks` blocks in all, sorted by their first
 * block.  The last range may be cut; its rest comes next. ret_ranges has room
 * for `blocks`.  *ret_count is 0 at the end.  ERROR_UNSAFE if ranges overlap or
 * are not ranges of the space.  ERROR_USAGE if the span begins in the future.
 */
int due_feed_take(struct due_feed *f, size_t blocks,
		  struct scanned_range *ret_ranges, size_t *ret_count,
		  struct error *err);

/* Returns when the first portion was taken: ms, Redis' clock. */
int64_t due_feed_now(const struct due_feed *f);

/* Returns the number of blocks still to come: exact once all ranges are read,
 * until then estimated from the size of those read so far. */
uint64_t due_feed_left(const struct due_feed *f);

#endif
