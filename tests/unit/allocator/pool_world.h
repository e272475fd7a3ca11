/* pool_world.h - a block pool on a loop, and requests for its codes. */
#ifndef TESTS_UNIT_ALLOCATOR_POOL_WORLD_H
#define TESTS_UNIT_ALLOCATOR_POOL_WORLD_H

#include "tests/unit/linkstore/async_fixture.h"

#include "allocator/block_pool/block_pool.h"
#include "allocator/block_pool/class_pool.h"

enum {
	REQUESTS_MAX = 1000
};

struct world {
	struct async_fixture *a;
	struct fixture *f;
	struct loop_timer *tick;
	struct metrics *metrics;
	struct block_pool_metrics counts;
	struct high_water_file *high_water_file;
	struct block_pool *pool;
	struct class_pool *day;
	int answered, issued, closed;
	struct error last;
	struct link_block block; /* the last code's */
	uint32_t offset;
	int order[REQUESTS_MAX]; /* requests in the order of their answers */
	struct request {
		struct class_pool_request request;
		struct world *w;
	} requests[REQUESTS_MAX];
	int used;
};

static inline void on_tick(void *arg)
{
	struct world *w = arg;

	loop_stop(w->a->loop);
}

static inline void run_loop_turns(struct world *w)
{
	loop_timer_set(w->tick, 2);
	run_loop(w->a);
}

#define until(w, condition)                                                    \
	do {                                                                   \
		for (int left = 20000; !(condition); left--) {                 \
			if (!left)                                             \
				fail_msg("never: %s", #condition);             \
			run_loop_turns(w);                                     \
		}                                                              \
	} while (0)

static inline void open_pool(struct world *w, int64_t hold_max,
			     size_t waiting_max)
{
	struct block_pool_options options = {
		.loop = w->a->loop,
		.redis = w->a->redis,
		.store = w->f->store,
		.name = "test",
		.waiting_max = waiting_max,
		.metrics = &w->counts,
		.high_water_file = w->high_water_file,
	};

	w->f->config.hold_max = hold_max;
	w->pool = block_pool_new(&options, &w->a->err);
	assert_non_null(w->pool);
	w->day = block_pool_class(w->pool, w->f->space, w->f->day);
}

static inline int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	setup_async(state);
	w->a = *state;
	w->f = w->a->f;
	w->metrics = metrics_new();
	block_pool_metrics_register(&w->counts, w->metrics);
	w->high_water_file =
		high_water_file_open(NULL, w->f->store, &w->a->err);
	w->tick = loop_timer_new(w->a->loop, on_tick, w, &w->a->err);
	*state = w;
	return 0;
}

static inline int tear_down(void **state)
{
	struct world *w = *state;
	struct async_fixture *a = w->a;
	void *inner = a;

	until(w, redis_async_pending(a->redis) == 0);
	block_pool_free(w->pool);
	loop_timer_free(w->tick);
	high_water_file_free(w->high_water_file);
	metrics_free(w->metrics);
	free(w);
	return teardown_async(&inner);
}

static inline void on_code(void *arg, const struct link_block *block,
			   uint32_t offset, const struct error *err)
{
	struct request *r = arg;
	struct world *w = r->w;

	w->order[w->answered++] = (int)(r - w->requests);
	w->last = err ? *err : (struct error){0};
	if (err)
		return;
	w->issued++;
	w->block = *block;
	w->offset = offset;
}

static inline void request_code(struct world *w)
{
	struct request *r = &w->requests[w->used++];

	assert_in_range(w->used, 1, REQUESTS_MAX);
	r->w = w;
	r->request = (struct class_pool_request){.fn = on_code, .arg = r};
	class_pool_take(w->day, &r->request);
}

static inline void take_code(struct world *w)
{
	int issued = w->issued;

	request_code(w);
	until(w, w->issued > issued);
}

static inline long long query_redis_number(struct world *w, const char *words)
{
	return redis_server_number(&w->f->server, words);
}

static inline uint64_t read_metric(const struct metric *metric)
{
	return metric_value(metric);
}

#define HERE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
