/*
 * chunk.h - a bounded number of due blocks, processed in four steps of a run:
 * scan, close, sample, settle.  Memory is allocated once and reused.
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

/* Takes at most `blocks` (<= room) blocks from the feed.  *ret_blocks is 0 at
 * the end of the feed. */
int chunk_fill(struct chunk *c, struct due_feed *feed, size_t blocks,
	       size_t *ret_blocks, struct error *err);

/* Reads the markers; for blocks without one, also reads whether they were
 * opened.  `gaps` are the space's. */
int chunk_scan(struct chunk *c, struct redis *redis,
	       const struct link_space *space, const struct space_gaps *gaps,
	       int64_t now, struct error *err);

/* Closes blocks that have ended or were never opened; a block that was renewed
 * meanwhile is live again. */
int chunk_close(struct chunk *c, struct redis *redis,
		const struct link_space *space, int64_t now, struct error *err);

/* Chooses the closed blocks whose links are looked up; one sampler for a whole
 * run. */
struct sampler {
	uint64_t every; /* one block out of this many */
	uint64_t wait;	/* blocks to skip before the next; internal */
	bool begun;	/* internal; starts as false */
};

/* Looks up the links of a sample of the closed blocks.  ERROR_UNSAFE if one is
 * live: then neither its block nor the others may be pooled. */
int chunk_sample(struct chunk *c, struct redis *redis,
		 const struct reclaim_lock *lock, struct sampler *sampler,
		 struct tally *tally, struct error *err);

/* Pools, keeps or sets aside the blocks, and counts them; one script settles
 * some hundreds of members.  Members that vanished meanwhile are skipped. */
int chunk_settle(struct chunk *c, struct redis *redis,
		 const struct reclaim_lock *lock,
		 const struct settle_merge *merge,
		 const struct space_gaps *gaps, struct tally *tally,
		 struct error *err);

/* Adds the result of the scan to the tally, as if all blocks were settled. */
void chunk_count(const struct chunk *c, const struct space_gaps *gaps,
		 struct tally *tally);

#endif
