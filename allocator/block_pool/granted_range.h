/*
 * granted_range.h - the ranges of blocks that were granted to a class pool, and
 * the codes in them.
 *
 * A grant consists of ranges of adjacent blocks.  All blocks of a range are
 * opened at once, and codes are issued from one block at a time.  A range ends
 * when it has no code left, when its hold has ended, or when Redis refused one
 * of its codes.  The blocks from which no code was taken are then closed and
 * handed back.
 *
 * It belongs to its loop's thread.
 */
#ifndef ALLOCATOR_BLOCK_POOL_GRANTED_RANGE_H
#define ALLOCATOR_BLOCK_POOL_GRANTED_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/block_pool/block_pool_metrics.h"
#include "common/error.h"
#include "common/redis/redis_async.h"
#include "linkstore/block/block.h"
#include "linkstore/linkstore.h"
#include "linkstore/range.h"
#include "linkstore/space/grant.h"

struct granted_range;

/* The ranges of one class pool. */
struct granted_ranges {
	/* Owned by the class pool; they outlive the last range. */
	const struct link_space *space;
	const struct link_class *ttl;
	struct redis_async *redis;
	const struct block_pool_metrics *metrics;
	/* Called for each answer to a request of granted_range_open.
	 * `retired`: codes are no longer issued from the range. */
	void (*on_opened)(void *arg, bool retired, const struct error *err);
	/* Called when a retired range is gone. */
	void (*on_gone)(void *arg);
	void *arg;

	struct granted_range *first; /* codes come from it; then the others */
	size_t open_blocks;	     /* blocks of these, no code taken */
	size_t unopened;	     /* unanswered requests */
	size_t retired;		     /* ranges that are not gone yet */
};

/* Adds a range of a grant.  Returns NULL if memory runs out. */
struct granted_range *granted_range_add(struct granted_ranges *ranges,
					const struct grant *grant,
					const struct block_range *blocks,
					int64_t hold_until, struct error *err);

/* Requests Redis to open all blocks.  When all are open, confirms to Redis that
 * they are in use: Redis may have refused one script and run the next one. */
int granted_range_open(struct granted_range *range, struct error *err);

/* Takes the range out of the list, hands back untouched blocks and frees it. */
void granted_range_retire(struct granted_range *range);

/* Returns the range that the next code comes from; NULL: there is none now. */
struct granted_range *granted_ranges_current(struct granted_ranges *ranges);

/* Takes the next code of the current range. */
void granted_range_issue(struct granted_range *range,
			 struct link_block *ret_block, uint32_t *ret_offset);

/* Counts the codes that can be issued without a query to Redis. */
uint64_t granted_ranges_codes_left(const struct granted_ranges *ranges);

/* Retires the range of the block, which is not ours any more. */
void granted_ranges_drop(struct granted_ranges *ranges,
			 const struct link_block *block);
/* Retires the ranges whose hold has ended. */
void granted_ranges_retire_expired(struct granted_ranges *ranges);
void granted_ranges_retire_all(struct granted_ranges *ranges);

/* Frees the ranges in the list and hands nothing back. */
void granted_ranges_free(struct granted_ranges *ranges);

#endif
