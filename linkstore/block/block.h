/*
 * block.h - opens and closes one block, through its marker.
 */
#ifndef LINKSTORE_BLOCK_BLOCK_H
#define LINKSTORE_BLOCK_BLOCK_H

#include <stdint.h>

#include "common/redis/redis.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"
#include "linkstore/marker.h"

/* A block with the data that its holder has. */
struct link_block {
	const struct link_space *space;
	const struct link_class *ttl;
	uint64_t number;
	uint32_t generation;
	char holder[LINK_HOLDER_MAX]; /* holder of the grant */
};

/*
 * Opens a block right after its grant, before its first code.  `end` is when
 * the block ends as things stand (ms, Redis' clock; DURATION_NEVER); it is
 * valid if err is NULL.  ERROR_NOT_OWNER, not retriable: another holder has it
 * open, or its marker is of this generation or a later one: drop the block and
 * count it.  Opening it again with the same holder and generation succeeds.
 */
typedef void block_open_fn(void *arg, int64_t end, const struct error *err);
int block_open_async(struct redis_async *redis, const struct link_block *block,
		     block_open_fn *fn, void *arg, struct error *err);

/*
 * Closes a block from which the holder has issued no code, opened or not, so
 * that it can be handed back (grant_hand_back).  A late open of this generation
 * fails after that.  ERROR_NOT_OWNER, not retriable: it is not ours.
 */
typedef void block_done_fn(void *arg, const struct error *err);
int block_close_own_async(struct redis_async *redis,
			  const struct link_block *block, block_done_fn *fn,
			  void *arg, struct error *err);

#endif
