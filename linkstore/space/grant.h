/*
 * grant.h - takes blocks from a space, and hands unused ones back.
 */
#ifndef LINKSTORE_SPACE_GRANT_H
#define LINKSTORE_SPACE_GRANT_H

#include <stddef.h>
#include <stdint.h>

#include "common/redis/redis.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"
#include "linkstore/marker.h"
#include "linkstore/range.h"

#define GRANT_BLOCKS_MAX 256

struct grant_request {
	const struct link_space *space;
	const struct link_class *ttl;
	unsigned blocks; /* 1 to GRANT_BLOCKS_MAX */
	/* The highest values that the caller has seen of the space: a Redis
	 * that lost data must not go below them. */
	struct high_water high_water;
	/* The caller's name, for people who read markers: a host name and a
	 * pid.  The holder is this and a random part, new for every grant, so
	 * that a block granted twice, even to one program, is opened once. */
	const char *name;
};

struct grant {
	/* The ranges have no block in common.  If Redis grants a block twice in
	 * one reply, the second is left to the reclaimer. */
	struct block_range ranges[GRANT_BLOCKS_MAX];
	size_t count;		      /* number of ranges, at least 1 */
	struct high_water high_water; /* for the next request */
	char holder[LINK_HOLDER_MAX];
};

/*
 * Takes blocks from the pool first, then from the cursor, and perhaps fewer
 * than requested.  The hold (links.hold_max) counts from before this call, on
 * clock_boottime_ms.  ERROR_NOTFOUND: the space was not created.  ERROR_INPUT:
 * it has no blocks, or too many were requested.  ERROR_EXHAUSTED, retriable:
 * all blocks are live or in quarantine.  A request whose reply is lost is not
 * repeated automatically; the reclaimer finds its blocks.
 *
 * `grant` is valid during the call; it is NULL if err is set.
 */
typedef void grant_fn(void *arg, const struct grant *grant,
		      const struct error *err);
int grant_blocks_async(struct redis_async *redis,
		       const struct grant_request *request, grant_fn *fn,
		       void *arg, struct error *err);

/* err is NULL on success. */
typedef void grant_done_fn(void *arg, const struct error *err);

/*
 * Confirms that the blocks first to last of a granted range, of those that were
 * opened, are about to be used.  Until then Redis marks them as not opened: if
 * their holder has died before it opened them, the reclaimer sees by the mark
 * that they hold no link.  So no link may be stored in a block before this was
 * answered.  It must be sent only after the opens were answered, since Redis
 * would run it even if the opens in front of it failed.  The count of moves is
 * noted then (linkstore_note_high_water), which detects a Redis that goes back
 * to an earlier state and has the marks again.  ERROR_NOTFOUND: Redis has no
 * record of the space.
 */
int grant_confirm_async(struct redis_async *redis,
			const struct link_space *space,
			const struct block_range *blocks, grant_done_fn *fn,
			void *arg, struct error *err);

/*
 * Hands back `part` of the granted range `whole`: blocks from which no code was
 * issued, each closed by block_close_own first.  They enter the pool under the
 * next generation and may be granted after hold_max, which is longer than the
 * writes that Redis may lose.  ERROR_NOTFOUND: `whole` is no longer issued (the
 * reclaimer has split it: leave it to the reclaimer).  On success, the issued
 * set keeps the pieces of `whole` before and after `part`.
 */
int grant_hand_back_async(struct redis_async *redis,
			  const struct link_space *space,
			  const struct block_range *whole,
			  const struct block_range *part, grant_done_fn *fn,
			  void *arg, struct error *err);

#endif
