/*
 * grant.h - taking blocks from a space, and giving unused ones back.
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
	/* What the caller has ever seen of the space: a Redis that forgot must
	 * not go below. */
	struct high_water high_water;
	/* Who asks, for people who read markers: a host name and a pid.  The
	 * holder is this and a random part, new for every grant, so that a
	 * block granted twice, even to one program, is opened once. */
	const char *name;
};

struct grant {
	/* Without a block in common; what Redis grants twice in one reply is
	 * left to the reclaimer. */
	struct block_range ranges[GRANT_BLOCKS_MAX];
	size_t count;		      /* of ranges, at least 1 */
	struct high_water high_water; /* for the next request */
	char holder[LINK_HOLDER_MAX];
};

/*
 * Pool first, then the cursor.  May grant fewer blocks than asked for.  The
 * hold (links.hold_max) counts from before this call, on clock_boottime_ms.
 * ERROR_NOTFOUND: the space was not created.  ERROR_INPUT: it has no blocks,
 * or too many were asked for.  ERROR_EXHAUSTED, retriable: nothing
 * left but what is live or in quarantine.  A request whose reply is lost is not
 * repeated by itself; its blocks are found by the reclaimer.
 *
 * grant is NULL when err is not; valid during the call.
 */
typedef void grant_fn(void *arg, const struct grant *grant,
		      const struct error *err);
int grant_blocks_async(struct redis_async *redis,
		       const struct grant_request *request, grant_fn *fn,
		       void *arg, struct error *err);

/* err is NULL on success. */
typedef void grant_done_fn(void *arg, const struct error *err);

/*
 * Says that the blocks first to last of a granted range are about to be used:
 * those of them that were opened.  Until then they are marked in Redis as not
 * opened, by which the reclaimer knows, when a holder has died before it opened
 * them, that they hold no link.  So no link may be stored in a block before
 * this was answered, and it is sent only once the opens have been: Redis
 * carries it out when the opens in front of it have failed.  How often blocks
 * have moved then is noted (linkstore_note_high_water): a Redis that goes back
 * to before, and has the marks again, is noticed by that.  ERROR_NOTFOUND:
 * Redis has no record of the space.
 */
int grant_confirm_async(struct redis_async *redis,
			const struct link_space *space,
			const struct block_range *blocks, grant_done_fn *fn,
			void *arg, struct error *err);

/*
 * Gives `part` of the granted range `whole` back: blocks from which no code was
 * handed out, each closed by block_close_own first.  Puts them into the pool,
 * under the next generation, to be granted after hold_max: longer than anything
 * that Redis may forget.  ERROR_NOTFOUND when `whole` is no longer
 * issued (the reclaimer has split it: leave it to the reclaimer).  On success
 * what is left of `whole` in the issued set are the pieces before and after.
 */
int grant_hand_back_async(struct redis_async *redis,
			  const struct link_space *space,
			  const struct block_range *whole,
			  const struct block_range *part, grant_done_fn *fn,
			  void *arg, struct error *err);

#endif
