/* Blocks are said to be in use only once they are open. */
#include "tests/unit/linkstore/async_fixture.h"

#include "allocator/block_pool/granted_range.h"

struct world {
	struct async_fixture *a;
	struct metrics *metrics;
	struct block_pool_metrics counts;
	struct granted_ranges ranges;
	struct granted_range *range;
	enum error_code code; /* of the last answer */
};

static void on_opened(void *arg, bool retired, const struct error *err)
{
	struct world *w = arg;

	(void)retired;
	w->code = err ? err->code : ERROR_NONE;
	if (w->ranges.unopened == 0)
		loop_stop(w->a->loop);
}

static void on_gone(void *arg)
{
	struct world *w = arg;

	loop_stop(w->a->loop);
}

/* Grants two blocks, as a range that nobody has opened yet. */
static int setup_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct grant_request request = {.blocks = 2, .name = "test"};
	struct fixture *f;
	struct grant grant;

	setup_async(state);
	w->a = *state;
	f = w->a->f;
	w->metrics = metrics_new();
	block_pool_metrics_register(&w->counts, w->metrics);
	w->ranges = (struct granted_ranges){
		.space = f->space,
		.ttl = f->day,
		.redis = w->a->redis,
		.metrics = &w->counts,
		.on_opened = on_opened,
		.on_gone = on_gone,
		.arg = w,
	};
	request.space = f->space;
	request.ttl = f->day;
	must(f, await_grant(f->await, &request, &grant, &f->err));
	assert_int_equal(grant.count, 1);
	w->range = granted_range_add(&w->ranges, &grant, &grant.ranges[0],
				     INT64_MAX, &f->err);
	assert_non_null(w->range);
	*state = w;
	return 0;
}

static int teardown_world(void **state)
{
	struct world *w = *state;
	struct async_fixture *a = w->a;
	void *inner = a;

	granted_ranges_free(&w->ranges);
	metrics_free(w->metrics);
	free(w);
	return teardown_async(&inner);
}

static long long ask(struct world *w, const char *words)
{
	return redis_server_number(&w->a->f->server, words);
}

static void open_range(struct world *w)
{
	assert_int_equal(granted_range_open(w->range, &w->a->err), 0);
	run_loop(w->a);
}

static void a_range_that_was_opened_is_in_use(void **state)
{
	struct world *w = *state;

	assert_int_equal(ask(w, "ZCARD unopened:{s5}"), 2);
	open_range(w);
	assert_int_equal(w->code, ERROR_NONE);
	assert_int_equal(ask(w, "ZCARD unopened:{s5}"), 0);
	assert_ptr_equal(granted_ranges_current(&w->ranges), w->range);
}

/* Redis has forgotten its scripts, not its commands. */
static void a_range_that_was_not_opened_is_not_said_to_be_in_use(void **state)
{
	struct world *w = *state;

	freeReplyObject(redis_server_ask(&w->a->f->server, "SCRIPT FLUSH"));
	open_range(w);
	assert_int_equal(w->code, ERROR_REMOTE);
	assert_int_equal(ask(w, "ZCARD unopened:{s5}"), 2);
	assert_null(granted_ranges_current(&w->ranges));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_range_that_was_opened_is_in_use, setup_world,
			teardown_world),
		cmocka_unit_test_setup_teardown(
			a_range_that_was_not_opened_is_not_said_to_be_in_use,
			setup_world, teardown_world),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
