/*
 * class_pool.h - codes for new links of one space and TTL class, from blocks
 * that are granted and opened ahead.
 *
 * The pool issues codes from granted ranges (granted_range.h).  When four
 * fifths of a grant's codes are used, or of the time that it may be held, the
 * next grant is requested, so that requests do not wait.  Its size depends on
 * how fast the last grant was used up.  Blocks are used for links.hold_max at
 * most, counted on clock_boottime_ms from before the request for the grant.
 *
 * A pool belongs to its loop's thread.
 */
#ifndef ALLOCATOR_BLOCK_POOL_CLASS_POOL_H
#define ALLOCATOR_BLOCK_POOL_CLASS_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/block_pool/block_pool_metrics.h"
#include "common/error.h"
#include "common/loop/loop.h"
#include "common/redis/redis_async.h"
#include "linkstore/block/block.h"
#include "linkstore/linkstore.h"
#include "linkstore/space/high_water_file.h"

/* The data that all pools of one thread share; outlives them. */
struct class_pool_shared {
	struct loop *loop;
	struct redis_async *redis;
	const struct links_config *links;
	const char *name;   /* holder: host and pid */
	size_t waiting_max; /* limit for waiting requests, all pools */
	const struct block_pool_metrics *metrics;
	struct high_water_file *high_water_file;
	/* Called while `closing` when a pool may have become idle. */
	void (*on_progress)(void *arg);
	void *arg;

	bool closing;	/* requests are refused, nothing is granted */
	size_t waiting; /* waiting requests, all pools */
};

struct class_pool;
struct granted_ranges;

struct class_pool *class_pool_new(struct class_pool_shared *shared,
				  const struct link_space *space,
				  const struct link_class *ttl,
				  struct error *err);
/* Waiting requests fail.  NULL accepted. */
void class_pool_free(struct class_pool *pool);

const struct link_class *class_pool_ttl(const struct class_pool *pool);
struct granted_ranges *class_pool_ranges(struct class_pool *pool);

/*
 * Called once per request: within class_pool_take, or later.  `block` is valid
 * during the call; it is NULL with one of these errors:
 *	ERROR_NOTFOUND	the space does not exist
 *	ERROR_EXHAUSTED	the space is full: all is live or in quarantine
 *	ERROR_REMOTE	Redis is away, too many wait, or the program is stopping
 */
typedef void class_pool_fn(void *arg, const struct link_block *block,
			   uint32_t offset, const struct error *err);

/* A request for a code.  The caller owns it and must not change it until `fn`
 * is called. */
struct class_pool_request {
	class_pool_fn *fn;
	void *arg;
	struct class_pool_request *next;
};

/* Takes the next code. */
void class_pool_take(struct class_pool *pool,
		     struct class_pool_request *request);

/* Call it when Redis reports that the block is not ours any more: no more codes
 * are issued from its range. */
void class_pool_drop(struct class_pool *pool, const struct link_block *block);

/* Fails the waiting requests and hands all ranges back. */
void class_pool_close(struct class_pool *pool);
/* Returns whether a grant is under way, or a range is being handed back. */
bool class_pool_is_busy(const struct class_pool *pool);

#endif
