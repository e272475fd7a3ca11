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

struct due_feed;

/* `room`: ranges asked for at once.  `peek`: the caller settles nothing, so
 * what was taken stays due and is stepped over. */
struct due_feed *due_feed_new(struct redis *redis,
			      const struct link_space *space, size_t room,
			      bool peek, struct error *err);
void due_feed_free(struct due_feed *f); /* NULL accepted */

/*
 * The next ranges, of `blocks` blocks in all at most, by their first block; the
 * last one asked for may be cut, and what is left of it comes next.  ret_ranges
 * has room for `blocks`.  *ret_count is 0 at the end.  ERROR_UNSAFE when ranges
 * overlap.
 */
int due_feed_take(struct due_feed *f, size_t blocks,
		  struct looked_range *ret_ranges, size_t *ret_count,
		  struct error *err);

/* What is due was due by then: ms, Redis' clock.  After the first portion. */
int64_t due_feed_until(const struct due_feed *f);

#endif
