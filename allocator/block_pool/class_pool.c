#include "allocator/block_pool/class_pool.h"

#include <stdlib.h>

#include "allocator/block_pool/grant_size.h"
#include "allocator/block_pool/granted_range.h"
#include "common/clock.h"
#include "linkstore/space/grant.h"

enum {
	FRUITLESS_MAX = 8, /* grants in a row that gave no code */
	RETRY_AFTER_MS = 100
};

/*
 * IDLE -> GRANTING -> OPENING -> IDLE
 *   ^        |           |
 *   |        v           v none granted, or none could be opened
 *   +----- BACKING_OFF <-+
 *
 * No grant is requested in GRANTING or OPENING, nor in BACKING_OFF for
 * RETRY_AFTER_MS.
 */
enum pool_state {
	POOL_IDLE,
	POOL_GRANTING, /* a grant is requested */
	POOL_OPENING,  /* its blocks are being opened */
	POOL_BACKING_OFF,
};

struct class_pool {
	struct class_pool_shared *shared;
	enum pool_state state;
	int64_t retry_at;     /* for BACKING_OFF, loop time */
	unsigned fruitless;   /* grants in a row that gave no code */
	struct error failure; /* error of the last failed grant */

	struct granted_ranges ranges;
	struct class_pool_request *waiting, **waiting_end;

	struct last_grant last_grant;
};

static void request_grant(struct class_pool *pool);

/* --- waiting requests ----------------------------------------------------- */

static void enqueue_request(struct class_pool *pool,
			    struct class_pool_request *request)
{
	struct class_pool_shared *shared = pool->shared;

	request->next = NULL;
	*pool->waiting_end = request;
	pool->waiting_end = &request->next;
	shared->waiting++;
	metric_add(shared->metrics->waiting, 1);
	metric_add(shared->metrics->waited, 1);
}

static struct class_pool_request *dequeue_request(struct class_pool *pool)
{
	struct class_pool_request *request = pool->waiting;

	pool->waiting = request->next;
	if (!pool->waiting)
		pool->waiting_end = &pool->waiting;
	pool->shared->waiting--;
	metric_add(pool->shared->metrics->waiting, (uint64_t)-1);
	return request;
}

static void fail_waiting(struct class_pool *pool, const struct error *err)
{
	struct class_pool_request *request;

	while (pool->waiting) {
		request = dequeue_request(pool);
		request->fn(request->arg, NULL, 0, err);
	}
}

/* Handles a failed grant.  The waiting requests fail with its error, and so do
 * requests until `retry_at`, without another query to Redis. */
static void back_off(struct class_pool *pool, const struct error *err)
{
	pool->failure = *err;
	pool->fruitless = 0;
	pool->state = POOL_BACKING_OFF;
	pool->retry_at = loop_now_ms(pool->shared->loop) + RETRY_AFTER_MS;
	fail_waiting(pool, &pool->failure);
}

static bool is_granting(const struct class_pool *pool)
{
	return pool->state == POOL_GRANTING || pool->state == POOL_OPENING;
}

static bool is_grant_due(const struct class_pool *pool, int64_t now)
{
	return grant_is_due(&pool->last_grant,
			    granted_ranges_codes_left(&pool->ranges),
			    pool->ranges.space->block_size, now);
}

static void issue_code(struct class_pool *pool, struct granted_range *range,
		       struct class_pool_request *request)
{
	struct link_block block;
	uint32_t offset;

	granted_range_issue(range, &block, &offset);
	pool->fruitless = 0;
	request->fn(request->arg, &block, offset, NULL);
}

/* Issues codes to waiting requests, and requests a grant if one is due.  When
 * this returns, no request waits unless a grant is under way.  It is called
 * only when codes are needed: an unused pool lets its blocks expire. */
static void serve_waiting_requests(struct class_pool *pool)
{
	int64_t now = loop_now_ms(pool->shared->loop);
	struct granted_range *range;

	while (pool->waiting && (range = granted_ranges_current(&pool->ranges)))
		issue_code(pool, range, dequeue_request(pool));
	if (!is_granting(pool) && is_grant_due(pool, now) &&
	    (pool->state != POOL_BACKING_OFF || now >= pool->retry_at))
		request_grant(pool);
	if (!is_granting(pool))
		fail_waiting(pool, &pool->failure);
}

static void set_stopping(struct error *err)
{
	*err = (struct error){0};
	error_set_retriable(err, ERROR_REMOTE, "the allocator is stopping");
}

void class_pool_take(struct class_pool *pool,
		     struct class_pool_request *request)
{
	struct class_pool_shared *shared = pool->shared;
	struct granted_range *range;
	struct error err = {0};

	if (shared->closing) {
		set_stopping(&err);
		request->fn(request->arg, NULL, 0, &err);
		return;
	}
	range = pool->waiting ? NULL : granted_ranges_current(&pool->ranges);
	if (range) {
		issue_code(pool, range, request);
	} else if (shared->waiting < shared->waiting_max) {
		enqueue_request(pool, request);
	} else {
		error_set_retriable(&err, ERROR_REMOTE,
				    "too many links are waiting for a block");
		request->fn(request->arg, NULL, 0, &err);
	}
	serve_waiting_requests(pool);
}

void class_pool_drop(struct class_pool *pool, const struct link_block *block)
{
	granted_ranges_drop(&pool->ranges, block);
}

/* --- grants --------------------------------------------------------------- */

/* Reports that an operation that kept the pool busy has ended. */
static void on_progress(const struct class_pool *pool)
{
	if (pool->shared->closing)
		pool->shared->on_progress(pool->shared->arg);
}

static int take_grant(struct class_pool *pool, const struct grant *grant,
		      struct error *err)
{
	struct class_pool_shared *shared = pool->shared;
	const struct block_pool_metrics *m = shared->metrics;
	int64_t hold_until =
		pool->last_grant.asked_at + shared->links->hold_max;
	struct granted_range *range;

	pool->last_grant.succeeded = true;
	metric_add(m->grants, 1);
	high_water_file_note(shared->high_water_file, pool->ranges.space,
			     &grant->high_water);
	for (size_t i = 0; i < grant->count; i++) {
		metric_add(m->blocks_granted, range_blocks(&grant->ranges[i]));
		range = granted_range_add(&pool->ranges, grant,
					  &grant->ranges[i], hold_until, err);
		if (!range)
			return -1;
		if (shared->closing)
			granted_range_retire(range);
		else if (granted_range_open(range, err) < 0)
			return -1;
	}
	return 0;
}

static void on_grant(void *arg, const struct grant *grant,
		     const struct error *err)
{
	struct class_pool *pool = arg;
	struct class_pool_shared *shared = pool->shared;
	struct error why = {0};
	int status;

	if (err) {
		metric_add(shared->metrics->grants_failed, 1);
		back_off(pool, err);
	} else {
		status = take_grant(pool, grant, &why);
		pool->state = pool->ranges.unopened ? POOL_OPENING : POOL_IDLE;
		if (status < 0 && pool->state == POOL_IDLE)
			back_off(pool, &why);
	}
	on_progress(pool);
}

/* Handles the answer to a range's open or confirmation. */
static void on_opened(void *arg, bool retired, const struct error *err)
{
	struct class_pool *pool = arg;

	if (pool->ranges.unopened == 0)
		pool->state = POOL_IDLE;
	/* If the range has expired in the meantime, waiting requests need
	 * another one. */
	if (retired && !pool->waiting)
		return;
	if (pool->state == POOL_IDLE && pool->waiting &&
	    !granted_ranges_current(&pool->ranges) && err &&
	    err->code != ERROR_NOT_OWNER)
		back_off(pool, err);
	else
		serve_waiting_requests(pool);
}

static void on_gone(void *arg)
{
	on_progress(arg);
}

static void request_grant(struct class_pool *pool)
{
	struct class_pool_shared *shared = pool->shared;
	int64_t now = clock_boottime_ms();
	struct grant_request request = {
		.space = pool->ranges.space,
		.ttl = pool->ranges.ttl,
		.high_water = high_water_file_get(shared->high_water_file,
						  pool->ranges.space),
		.name = shared->name,
	};
	struct error err = {0};

	if (shared->closing)
		return;
	if (pool->fruitless++ >= FRUITLESS_MAX) {
		error_set_retriable(
			&err, ERROR_REMOTE,
			"space %s: none of the blocks granted could "
			"be opened",
			pool->ranges.space->name);
		back_off(pool, &err);
		return;
	}
	pool->last_grant.blocks = grant_size_next(
		&pool->last_grant, now, (size_t)shared->links->grant_blocks,
		pool->ranges.space->blocks);
	request.blocks = (unsigned)pool->last_grant.blocks;
	pool->last_grant.asked_at = now;
	pool->last_grant.succeeded = false;
	pool->last_grant.renew_at =
		loop_now_ms(shared->loop) + shared->links->hold_max -
		shared->links->hold_max / GRANT_AHEAD_DIVISOR;
	if (grant_blocks_async(shared->redis, &request, on_grant, pool, &err) <
	    0) {
		metric_add(shared->metrics->grants_failed, 1);
		back_off(pool, &err);
		return;
	}
	pool->state = POOL_GRANTING;
}

/* --- start and stop ------------------------------------------------------- */

struct class_pool *class_pool_new(struct class_pool_shared *shared,
				  const struct link_space *space,
				  const struct link_class *ttl,
				  struct error *err)
{
	struct class_pool *pool = calloc(1, sizeof(*pool));

	if (!pool) {
		error_set_nomem(err);
		return NULL;
	}
	pool->shared = shared;
	pool->ranges = (struct granted_ranges){
		.space = space,
		.ttl = ttl,
		.redis = shared->redis,
		.metrics = shared->metrics,
		.on_opened = on_opened,
		.on_gone = on_gone,
		.arg = pool,
	};
	pool->waiting_end = &pool->waiting;
	return pool;
}

/* Retired ranges are freed by the answers to their last requests; all of these
 * have come by the time the connection is freed. */
void class_pool_free(struct class_pool *pool)
{
	struct error err;

	if (!pool)
		return;
	set_stopping(&err);
	fail_waiting(pool, &err);
	granted_ranges_free(&pool->ranges);
	free(pool);
}

const struct link_class *class_pool_ttl(const struct class_pool *pool)
{
	return pool->ranges.ttl;
}

struct granted_ranges *class_pool_ranges(struct class_pool *pool)
{
	return &pool->ranges;
}

bool class_pool_is_busy(const struct class_pool *pool)
{
	return pool->state == POOL_GRANTING || pool->ranges.retired > 0;
}

void class_pool_close(struct class_pool *pool)
{
	struct error err;

	set_stopping(&err);
	fail_waiting(pool, &err);
	granted_ranges_retire_all(&pool->ranges);
}
