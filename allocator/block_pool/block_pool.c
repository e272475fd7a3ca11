#include "allocator/block_pool/block_pool.h"

#include <stdlib.h>

#include "allocator/block_pool/granted_range.h"

enum {
	EXPIRY_CHECK_MAX_MS = 5000,
	EXPIRY_CHECK_MIN_MS = 50
};

struct block_pool {
	struct class_pool_shared shared;
	struct loop_timer *expiry_timer;
	void (*on_closed)(void *arg); /* NULL: not closing, or already called */
	void *closed_arg;
	size_t class_count, pool_count;
	struct class_pool *pools[]; /* by space, then by class */
};

/* --- expiry --------------------------------------------------------------- */

static int64_t expiry_check_every(const struct block_pool *pool)
{
	int64_t every = pool->shared.links->hold_max / 4;

	if (every < EXPIRY_CHECK_MIN_MS)
		return EXPIRY_CHECK_MIN_MS;
	return every < EXPIRY_CHECK_MAX_MS ? every : EXPIRY_CHECK_MAX_MS;
}

static void on_expiry_timer(void *arg)
{
	struct block_pool *pool = arg;

	for (size_t i = 0; i < pool->pool_count; i++)
		granted_ranges_retire_expired(
			class_pool_ranges(pool->pools[i]));
	loop_timer_set(pool->expiry_timer, expiry_check_every(pool));
}

/* --- start and stop ------------------------------------------------------- */

/* Calls on_closed when no class pool is busy any more. */
static void check_closed(void *arg)
{
	struct block_pool *pool = arg;
	void (*done)(void *arg) = pool->on_closed;

	if (!done)
		return;
	for (size_t i = 0; i < pool->pool_count; i++) {
		if (class_pool_is_busy(pool->pools[i]))
			return;
	}
	pool->on_closed = NULL;
	done(pool->closed_arg);
}

static int add_pools(struct block_pool *pool, const struct linkstore *store,
		     size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		pool->pools[i] = class_pool_new(
			&pool->shared,
			linkstore_space(store, i / pool->class_count),
			linkstore_class(store, i % pool->class_count), err);
		if (!pool->pools[i])
			return -1;
		pool->pool_count++;
	}
	return 0;
}

struct block_pool *block_pool_new(const struct block_pool_options *options,
				  struct error *err)
{
	size_t class_count = linkstore_class_count(options->store);
	size_t count = linkstore_space_count(options->store) * class_count;
	struct block_pool *pool =
		calloc(1, sizeof(*pool) + count * sizeof(pool->pools[0]));

	if (!pool) {
		error_set_nomem(err);
		return NULL;
	}
	pool->shared = (struct class_pool_shared){
		.loop = options->loop,
		.redis = options->redis,
		.links = linkstore_config(options->store),
		.name = options->name,
		.waiting_max = options->waiting_max,
		.metrics = options->metrics,
		.high_water_file = options->high_water_file,
		.on_progress = check_closed,
		.arg = pool,
	};
	pool->class_count = class_count;
	pool->expiry_timer =
		loop_timer_new(options->loop, on_expiry_timer, pool, err);
	if (!pool->expiry_timer ||
	    add_pools(pool, options->store, count, err) < 0) {
		block_pool_free(pool);
		return NULL;
	}
	loop_timer_set(pool->expiry_timer, expiry_check_every(pool));
	return pool;
}

void block_pool_free(struct block_pool *pool)
{
	if (!pool)
		return;
	for (size_t i = 0; i < pool->pool_count; i++)
		class_pool_free(pool->pools[i]);
	loop_timer_free(pool->expiry_timer);
	free(pool);
}

struct class_pool *block_pool_class(struct block_pool *pool,
				    const struct link_space *space,
				    const struct link_class *ttl)
{
	struct class_pool **at = &pool->pools[space->index * pool->class_count];

	while (class_pool_ttl(*at) != ttl)
		at++;
	return *at;
}

void block_pool_close(struct block_pool *pool, void (*done)(void *arg),
		      void *arg)
{
	pool->shared.closing = true;
	for (size_t i = 0; i < pool->pool_count; i++)
		class_pool_close(pool->pools[i]);
	pool->on_closed = done;
	pool->closed_arg = arg;
	check_closed(pool);
}
