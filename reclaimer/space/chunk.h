/*
 * chunk.h - a bounded number of due blocks on their way through a run: scanned,
 * closed, sampled, settled.  Memory is taken once and used again.
 */
#ifndef RECLAIMER_SPACE_CHUNK_H
#define RECLAIMER_SPACE_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/redis/redis.h"
#include "linkstore/linkstore.h"
#include "linkstore/space/reclaim.h"
#include "linkstore/space/space_gaps.h"
#include "reclaimer/space/due_feed.h"
#include "reclaimer/space/settle_plan.h"
#include "reclaimer/space/tally.h"

struct chunk;

/* `room`: blocks. */
struct chunk *chunk_new(size_t room, struct error *err);
void chunk_free(struct chunk *c); /* NULL accepted */

/* Takes at most `blocks` (<= room) blocks out of the feed.  *ret_blocks is 0
 * at its end. */
int chunk_fill(struct chunk *c, struct due_feed *feed, size_t blocks,
	       size_t *ret_blocks, struct error *err);

/* Reads the markers, and of blocks without one whether they were opened. `gaps`
 * are the space's. */
int chunk_scan(struct chunk *c, struct redis *redis,
	       const struct link_space *space, const struct space_gaps *gaps,
	       int64_t now, struct error *err);

/* Closes what has ended or was never opened; a block that was renewed meanwhile
 * is live again. */
int chunk_close(struct chunk *c, struct redis *redis,
		const struct link_space *space, int64_t now, struct error *err);

/* Which closed blocks have their links looked up; one for a whole run. */
struct sampler {
	uint64_t every; /* one block of so many */
	uint64_t wait;	/* to be passed over before the next; its own */
	bool begun;	/* its own; starts as false */
};

/*
 * Looks up the links of a sample of what was closed.  ERROR_UNSAFE when one is
 * alive: its block must not be pooled, and nor must the others be.
 */
int chunk_sample(struct chunk *c, struct redis *redis,
		 const struct reclaim_lock *lock, struct sampler *sampler,
		 struct tally *tally, struct error *err);

/* Pools, keeps or sets aside, and counts it, some hundreds of members a script.
 * Members that vanished meanwhile are skipped. */
int chunk_settle(struct chunk *c, struct redis *redis,
		 const struct reclaim_lock *lock,
		 const struct settle_merge *merge,
		 const struct space_gaps *gaps, struct tally *tally,
		 struct error *err);

/* Adds what the scan found, as if all of it were settled. */
void chunk_count(const struct chunk *c, const struct space_gaps *gaps,
		 struct tally *tally);

#endif
