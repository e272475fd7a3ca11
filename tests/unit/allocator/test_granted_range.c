/* Blocks are reported as in use only once they are open. */
#include "tests/unit/linkstore/async_fixture.h"

#include "allocator/block_pool/granted_range.h"

struct world {
	struct async_fixture *a;
	struct metrics *metrics;
	struct block_pool_metrics counts;
	struct granted_ranges ranges;
	struct granted_range *range;
	enum error_code code; /* the last answer's */
	bool gone;
	bool retire_late; /* retire it once all blocks are open and none is
			     confirmed */
	bool early;	  /* a code was available before Redis was notified */
};

static long long query_redis_number(struct world *w, const char *words)
{
	return redis_server_number(&w->a->f->server, words);
}

static void on_opened(void *arg, bool retired, const struct error *err)
{
	struct world *w = arg;

	(void)retired;
	w->code = err ? err->code : ERROR_NONE;
	if (w->ranges.unopened > 0 &&
	    query_redis_number(w, "ZCARD unopened:{s5}") > 0 &&
	    granted_ranges_current(&w->ranges))
		w->early = true;
	if (w->retire_late && w->ranges.unopened == 1 &&
	    w->ranges.open_blocks == 2)
		granted_ranges_retire_all(&w->ranges);
	if (w->ranges.unopened == 0)
		loop_stop(w->a->loop);
}

static void on_gone(void *arg)
{
	struct world *w = arg;

	w->gone = true;
	loop_stop(w->a->loop);
}

static void run_until_gone(struct world *w)
{
	while (!w->gone)
		run_loop(w->a);
}

/* Grants blocks as a range that is not opened yet. */
static int setup_range(void **state, unsigned blocks)
{
	struct world *w = calloc(1, sizeof(*w));
	struct grant_request request = {.blocks = blocks, .name = "test"};
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

static int setup_world(void **state)
{
	return setup_range(state, 2);
}

static int setup_four(void **state)
{
	return setup_range(state, 4);
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

static void open_range(struct world *w)
{
	assert_int_equal(granted_range_open(w->range, &w->a->err), 0);
	run_loop(w->a);
}

static void a_range_that_was_opened_is_in_use(void **state)
{
	struct world *w = *state;

	assert_int_equal(query_redis_number(w, "ZCARD unopened:{s5}"), 2);
	open_range(w);
	assert_int_equal(w->code, ERROR_NONE);
	assert_int_equal(query_redis_number(w, "ZCARD unopened:{s5}"), 0);
	assert_ptr_equal(granted_ranges_current(&w->ranges), w->range);
}

/* Redis has lost the scripts, but not the commands. */
static void a_range_that_was_not_opened_is_not_said_to_be_in_use(void **state)
{
	struct world *w = *state;

	freeReplyObject(redis_server_ask(&w->a->f->server, "SCRIPT FLUSH"));
	open_range(w);
	assert_int_equal(w->code, ERROR_REMOTE);
	assert_int_equal(query_redis_number(w, "ZCARD unopened:{s5}"), 2);
	assert_null(granted_ranges_current(&w->ranges));
}

/* The queue has no room for another command when the last open is answered. */
static void a_range_that_cannot_be_confirmed_is_not_in_use(void **state)
{
	struct world *w = *state;
	struct redis_config *config = &w->a->f->server.config;
	int64_t before = config->pending_max;

	assert_int_equal(granted_range_open(w->range, &w->a->err), 0);
	config->pending_max = 0;
	run_loop(w->a);
	config->pending_max = before;
	assert_int_equal(w->code, ERROR_REMOTE);
	assert_int_equal(query_redis_number(w, "ZCARD unopened:{s5}"), 2);
	assert_null(granted_ranges_current(&w->ranges));
	run_until_gone(w);
}

/* One block cannot be opened, and the commands after it can succeed. */
static void a_range_of_which_one_open_failed_is_not_in_use(void **state)
{
	struct world *w = *state;

	freeReplyObject(
		redis_server_ask(&w->a->f->server, "HSET m:{s5:0} a b"));
	open_range(w);
	assert_int_equal(w->ranges.open_blocks, 1);
	assert_int_equal(query_redis_number(w, "ZCARD unopened:{s5}"), 2);
	assert_null(granted_ranges_current(&w->ranges));
	run_until_gone(w);
}

static void a_range_given_up_before_it_is_confirmed_is_handed_back(void **state)
{
	struct world *w = *state;

	w->retire_late = true;
	open_range(w);
	run_until_gone(w);
	assert_null(w->ranges.first);
	assert_int_equal(metric_value(w->counts.blocks_returned), 2);
	assert_int_equal(metric_value(w->counts.held), 0);
}

/* Until then Redis marks the blocks as not opened: the reclaimer concludes that
 * they hold no link. */
static void no_code_is_there_before_redis_knows_that_it_is_in_use(void **state)
{
	struct world *w = *state;

	open_range(w);
	assert_false(w->early);
	assert_non_null(granted_ranges_current(&w->ranges));
}

static void no_code_is_there_when_redis_does_not_confirm(void **state)
{
	struct world *w = *state;

	freeReplyObject(redis_server_ask(&w->a->f->server, "DEL space:{s5}"));
	open_range(w);
	assert_int_equal(w->code, ERROR_NOTFOUND);
	assert_null(granted_ranges_current(&w->ranges));
	run_until_gone(w);
	assert_int_equal(metric_value(w->counts.held), 0);
}

static void each_code_is_issued_once(void **state)
{
	struct world *w = *state;
	struct link_block block;
	uint32_t offset;

	open_range(w);
	assert_int_equal(metric_value(w->counts.held), 2);
	for (uint64_t i = 0; i < 2000; i++) {
		assert_int_equal(granted_ranges_codes_left(&w->ranges),
				 2000 - i);
		assert_ptr_equal(granted_ranges_current(&w->ranges), w->range);
		granted_range_issue(w->range, &block, &offset);
		assert_int_equal(block.number, i / 1000);
		assert_int_equal(offset, i % 1000);
		assert_int_equal(block.generation, 1);
		assert_ptr_equal(block.ttl, w->a->f->day);
	}
	assert_int_equal(granted_ranges_codes_left(&w->ranges), 0);
	assert_null(granted_ranges_current(&w->ranges));
	assert_null(w->ranges.first);
	assert_true(w->gone);
	assert_int_equal(metric_value(w->counts.held), 0);
	assert_int_equal(metric_value(w->counts.blocks_returned), 0);
	assert_int_equal(query_redis_number(w, "ZCARD pool:{s5}"), 0);
}

static void issue_code(struct world *w)
{
	struct link_block block;
	uint32_t offset;

	assert_ptr_equal(granted_ranges_current(&w->ranges), w->range);
	granted_range_issue(w->range, &block, &offset);
}

static void only_blocks_without_a_code_are_handed_back(void **state)
{
	struct world *w = *state;

	open_range(w);
	issue_code(w);
	granted_ranges_retire_all(&w->ranges);
	assert_int_equal(w->ranges.retired, 1);
	assert_int_equal(w->ranges.open_blocks, 0);
	assert_int_equal(metric_value(w->counts.held), 0);
	run_until_gone(w);
	assert_int_equal(w->ranges.retired, 0);
	assert_int_equal(metric_value(w->counts.blocks_returned), 1);
	assert_int_equal(query_redis_number(w, "ZSCORE pool:{s5} 1-1:2") > 0,
			 1);
	assert_int_equal(query_redis_number(w, "ZCARD pool:{s5}"), 1);
	assert_int_equal(query_redis_number(w, "ZCARD issued:{s5}"), 1);
	assert_true(read_marker(w->a->f, 0).open);
	assert_false(read_marker(w->a->f, 1).open);
}

static void untouched_ranges_are_handed_back_whole(void **state)
{
	struct world *w = *state;

	open_range(w);
	granted_ranges_retire_all(&w->ranges);
	run_until_gone(w);
	assert_int_equal(metric_value(w->counts.blocks_returned), 2);
	assert_int_equal(query_redis_number(w, "ZSCORE pool:{s5} 0-1:2") > 0,
			 1);
	assert_int_equal(query_redis_number(w, "ZCARD issued:{s5}"), 0);
}

/* The opens are under way, and only their answers show what has to be closed.
 */
static void a_range_that_is_given_up_early_waits_for_its_opens(void **state)
{
	struct world *w = *state;

	assert_int_equal(granted_range_open(w->range, &w->a->err), 0);
	granted_ranges_retire_all(&w->ranges);
	assert_false(w->gone);
	run_until_gone(w);
	assert_int_equal(w->ranges.unopened, 0);
	assert_int_equal(metric_value(w->counts.held), 0);
	assert_int_equal(metric_value(w->counts.blocks_returned), 2);
	assert_false(read_marker(w->a->f, 0).open);
	assert_false(read_marker(w->a->f, 1).open);
}

/* Another holder opens the same block. */
static void open_by_another(struct world *w, uint64_t number)
{
	struct link_block block = {.space = w->a->f->space,
				   .ttl = w->a->f->day,
				   .number = number,
				   .generation = 1,
				   .holder = "another#1"};
	int64_t end;

	must(w->a->f, await_open(w->a->f->await, &block, &end, &w->a->f->err));
}

static void a_block_in_other_hands_gives_no_code(void **state)
{
	struct world *w = *state;
	struct link_block block;
	uint32_t offset;

	open_by_another(w, 0);
	open_range(w);
	assert_int_equal(metric_value(w->counts.opens_refused), 1);
	assert_int_equal(metric_value(w->counts.held), 1);
	assert_int_equal(granted_ranges_codes_left(&w->ranges), 1000);
	assert_ptr_equal(granted_ranges_current(&w->ranges), w->range);
	granted_range_issue(w->range, &block, &offset);
	assert_int_equal(block.number, 1);
	granted_ranges_retire_all(&w->ranges);
	run_until_gone(w);
	/* Neither the other holder's block nor the one with a used code is
	 * returned. */
	assert_int_equal(metric_value(w->counts.blocks_returned), 0);
	assert_string_equal(read_marker(w->a->f, 0).holder, "another#1");
	assert_true(read_marker(w->a->f, 0).open);
}

/* Another holder has opened that block; the other blocks are handed back. */
static void hand_back_around(struct world *w, uint64_t block)
{
	open_by_another(w, block);
	open_range(w);
	granted_ranges_retire_all(&w->ranges);
	run_until_gone(w);
}

static void
what_comes_before_a_block_in_other_hands_is_handed_back(void **state)
{
	struct world *w = *state;

	hand_back_around(w, 1);
	assert_int_equal(metric_value(w->counts.blocks_returned), 1);
	assert_true(query_redis_number(w, "ZSCORE pool:{s5} 0-0:2") > 0);
	assert_true(query_redis_number(w, "ZSCORE issued:{s5} 1-1:1") > 0);
	assert_true(read_marker(w->a->f, 1).open);
}

/* The blocks before the first part that was handed back are a range of their
 * own. */
static void what_is_around_a_block_in_other_hands_is_handed_back(void **state)
{
	struct world *w = *state;

	hand_back_around(w, 2);
	assert_int_equal(metric_value(w->counts.blocks_returned), 3);
	assert_true(query_redis_number(w, "ZSCORE pool:{s5} 3-3:2") > 0);
	assert_true(query_redis_number(w, "ZSCORE pool:{s5} 0-1:2") > 0);
	assert_int_equal(query_redis_number(w, "ZCARD issued:{s5}"), 1);
	assert_true(query_redis_number(w, "ZSCORE issued:{s5} 2-2:1") > 0);
	assert_true(read_marker(w->a->f, 2).open);
}

static void blocks_that_are_all_in_other_hands_give_none(void **state)
{
	struct world *w = *state;

	open_by_another(w, 0);
	open_by_another(w, 1);
	open_range(w);
	assert_int_equal(metric_value(w->counts.opens_refused), 2);
	assert_null(granted_ranges_current(&w->ranges));
	assert_true(w->gone);
	assert_int_equal(metric_value(w->counts.blocks_returned), 0);
}

static void blocks_that_were_given_up_are_not_said_to_be_in_use(void **state)
{
	struct world *w = *state;

	open_by_another(w, 0);
	open_by_another(w, 1);
	assert_int_equal(granted_range_open(w->range, &w->a->err), 0);
	granted_ranges_retire_all(&w->ranges);
	run_until_gone(w);
	assert_int_equal(query_redis_number(w, "ZCARD unopened:{s5}"), 2);
}

static struct link_block make_block(uint64_t number, uint32_t generation)
{
	return (struct link_block){.number = number, .generation = generation};
}

static void only_the_range_of_a_refused_block_is_dropped(void **state)
{
	struct world *w = *state;
	struct link_block others[] = {make_block(2, 1), make_block(0, 2),
				      make_block(1, 0)};
	struct link_block last = make_block(1, 1);

	open_range(w);
	for (size_t i = 0; i < 3; i++) {
		granted_ranges_drop(&w->ranges, &others[i]);
		assert_ptr_equal(w->ranges.first, w->range);
	}
	granted_ranges_drop(&w->ranges, &last);
	assert_null(w->ranges.first);
	assert_int_equal(metric_value(w->counts.blocks_dropped), 2);
	run_until_gone(w);
}

static void the_first_block_of_a_range_drops_it(void **state)
{
	struct world *w = *state;
	struct link_block first = make_block(0, 1);

	open_range(w);
	granted_ranges_drop(&w->ranges, &first);
	assert_null(w->ranges.first);
	run_until_gone(w);
}

/* Adds the range again; it may be held until then. */
static void hold_until(struct world *w, int64_t until)
{
	struct grant grant = {.count = 1, .ranges = {{0, 1, 1}}};
	const struct link_marker m = read_marker(w->a->f, 0);

	strcpy(grant.holder, m.holder);
	granted_ranges_free(&w->ranges);
	w->ranges.open_blocks = 0;
	w->range = granted_range_add(&w->ranges, &grant, &grant.ranges[0],
				     until, &w->a->err);
	assert_non_null(w->range);
	open_range(w);
}

static void no_code_is_issued_once_the_hold_has_ended(void **state)
{
	struct world *w = *state;
	int64_t until;

	open_range(w);
	until = clock_boottime_ms() + 60000;
	hold_until(w, until);
	assert_non_null(granted_ranges_current(&w->ranges));
	granted_ranges_retire_expired(&w->ranges);
	assert_non_null(w->ranges.first);
	hold_until(w, clock_boottime_ms());
	assert_null(granted_ranges_current(&w->ranges));
	assert_int_equal(metric_value(w->counts.blocks_expired), 2);
	run_until_gone(w);
	assert_int_equal(query_redis_number(w, "ZCARD pool:{s5}"), 1);
}

static void a_range_whose_hold_has_ended_is_given_up_unasked(void **state)
{
	struct world *w = *state;

	open_range(w);
	hold_until(w, clock_boottime_ms());
	granted_ranges_retire_expired(&w->ranges);
	assert_null(w->ranges.first);
	assert_int_equal(metric_value(w->counts.blocks_expired), 2);
	run_until_gone(w);
}

#define IN_RANGE(test)                                                         \
	cmocka_unit_test_setup_teardown(test, setup_world, teardown_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_RANGE(a_range_that_was_opened_is_in_use),
		IN_RANGE(a_range_that_was_not_opened_is_not_said_to_be_in_use),
		IN_RANGE(no_code_is_there_before_redis_knows_that_it_is_in_use),
		IN_RANGE(no_code_is_there_when_redis_does_not_confirm),
		IN_RANGE(a_range_that_cannot_be_confirmed_is_not_in_use),
		IN_RANGE(a_range_of_which_one_open_failed_is_not_in_use),
		IN_RANGE(
			a_range_given_up_before_it_is_confirmed_is_handed_back),
		IN_RANGE(blocks_that_were_given_up_are_not_said_to_be_in_use),
		IN_RANGE(each_code_is_issued_once),
		IN_RANGE(only_blocks_without_a_code_are_handed_back),
		IN_RANGE(untouched_ranges_are_handed_back_whole),
		IN_RANGE(a_range_that_is_given_up_early_waits_for_its_opens),
		IN_RANGE(a_block_in_other_hands_gives_no_code),
		IN_RANGE(
			what_comes_before_a_block_in_other_hands_is_handed_back),
		cmocka_unit_test_setup_teardown(
			what_is_around_a_block_in_other_hands_is_handed_back,
			setup_four, teardown_world),
		IN_RANGE(blocks_that_are_all_in_other_hands_give_none),
		IN_RANGE(only_the_range_of_a_refused_block_is_dropped),
		IN_RANGE(the_first_block_of_a_range_drops_it),
		IN_RANGE(no_code_is_issued_once_the_hold_has_ended),
		IN_RANGE(a_range_whose_hold_has_ended_is_given_up_unasked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
