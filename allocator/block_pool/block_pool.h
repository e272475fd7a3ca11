/*
 * block_pool.h - one thread's blocks: a class pool (class_pool.h) for each
 * space and TTL class.
 *
 * Ranges whose hold has ended are retired, even if no link is requested.  At
 * the end all ranges are handed back.
 *
 * A pool belongs to its loop's thread.
 */
#ifndef ALLOCATOR_BLOCK_POOL_BLOCK_POOL_H
#define ALLOCATOR_BLOCK_POOL_BLOCK_POOL_H

#include <stddef.h>

#include "allocator/block_pool/block_pool_metrics.h"
#include "allocator/block_pool/class_pool.h"
#include "common/error.h"
#include "common/loop/loop.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"
#include "linkstore/space/high_water_file.h"

struct block_pool_options {
	struct loop *loop;
	struct redis_async *redis;
	const struct linkstore *store;
	const char *name;   /* holder: host and pid; must outlive the pool */
	size_t waiting_max; /* requests that may wait for a block */
	const struct block_pool_metrics *metrics;
	struct high_water_file *high_water_file; /* shared by all threads */
};

struct block_pool;

struct block_pool *block_pool_new(const struct block_pool_options *options,
				  struct error *err);
/* Waiting requests fail.  NULL accepted. */
void block_pool_free(struct block_pool *pool);

/* Returns the source of the codes of this space and class. */
struct class_pool *block_pool_class(struct block_pool *pool,
				    const struct link_space *space,
				    const struct link_class *ttl);

/* Hands back the blocks from which no code was taken, then calls done(arg),
 * perhaps before this returns.  Requests are refused from now on. */
void block_pool_close(struct block_pool *pool, void (*done)(void *arg),
		      void *arg);

#endif
