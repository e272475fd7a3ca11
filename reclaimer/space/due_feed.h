/*
 * due_feed.h - the ranges due in a space, in portions of bounded size.
 *
 * What is due is fixed when the first portion is taken, so that blocks scored
 * anew into the future do not come up again and a run ends.
 */
#ifndef RECLAIMER_SPACE_DUE_FEED_H
#define RECLAIMER_SPACE_DUE_FEED_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "common/redis/redis.h"
#include "linkstore/linkstore.h"
#include "reclaimer/space/settle_plan.h"

/* Which ranges: those that were to be scanned from `from` to `until`, ms by
 * Redis' clock.  `until` may lie in the future: it is now, then. */
struct due_span {
	int64_t from;  /* 0: from the beginning */
	int64_t until; /* 0: until now */
};

struct due_feed;

/* `room`: ranges kept at once.  `peek`: the caller settles nothing, so what was
 * taken stays due and is stepped over. */
struct due_feed *due_feed_new(struct redis *redis,
			      const struct link_space *space,
			      struct due_span span, size_t room, bool peek,
			      struct error *err);
void due_feed_free(struct due_feed *f); /* NULL accepted */

/*
 * The next ranges, of `blocks` blocks in all at most, by their first block; the
 * last one asked for may be cut, and what is left of it comes next.  ret_ranges
 * has room for `blocks`.  *ret_count is 0 at the end.  ERROR_UNSAFE when ranges
 * overlap, or are none of the space.  ERROR_USAGE when the span begins in the
 * future.
 */
int due_feed_take(struct due_feed *f, size_t blocks,
		  struct scanned_range *ret_ranges, size_t *ret_count,
		  struct error *err);

/* When the first portion was taken: ms, Redis' clock. */
int64_t due_feed_now(const struct due_feed *f);

/* How many blocks are still to come: exact once all ranges were read, until
 * then reckoned from the size of those that were. */
uint64_t due_feed_left(const struct due_feed *f);

#endif
