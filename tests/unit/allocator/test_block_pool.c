/* Codes for new links: how blocks are asked for, how long they are held, and
 * what becomes of those who wait. */
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
	struct link_block block; /* of the last code */
	uint32_t offset;
	int order[REQUESTS_MAX]; /* requests as they were answered */
	struct request {
		struct class_pool_request request;
		struct world *w;
	} requests[REQUESTS_MAX];
	int used;
};

static void on_tick(void *arg)
{
	struct world *w = arg;

	loop_stop(w->a->loop);
}

static void turn(struct world *w)
{
	loop_timer_set(w->tick, 2);
	run_loop(w->a);
}

#define until(w, condition)                                                    \
	do {                                                                   \
		for (int left = 20000; !(condition); left--) {                 \
			if (!left)                                             \
				fail_msg("never: %s", #condition);             \
			turn(w);                                               \
		}                                                              \
	} while (0)

static void open_pool(struct world *w, int64_t hold_max, size_t waiting_max)
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

static int set_up(void **state)
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

static int tear_down(void **state)
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

static void on_code(void *arg, const struct link_block *block, uint32_t offset,
		    const struct error *err)
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

static void take(struct world *w)
{
	struct request *r = &w->requests[w->used++];

	assert_in_range(w->used, 1, REQUESTS_MAX);
	r->w = w;
	r->request = (struct class_pool_request){.fn = on_code, .arg = r};
	class_pool_take(w->day, &r->request);
}

static void take_code(struct world *w)
{
	int issued = w->issued;

	take(w);
	until(w, w->issued > issued);
}

static long long ask(struct world *w, const char *words)
{
	return redis_server_number(&w->f->server, words);
}

static uint64_t value(const struct metric *metric)
{
	return metric_value(metric);
}

/* --- grants --------------------------------------------------------------- */

static void the_first_code_waits_for_a_grant(void **state)
{
	struct world *w = *state;

	open_pool(w, 3600 * 1000, 10);
	take(w);
	assert_int_equal(w->answered, 0);
	assert_int_equal(value(w->counts.waiting), 1);
	until(w, w->answered);
	assert_int_equal(w->issued, 1);
	assert_int_equal(w->block.number, 0);
	assert_int_equal(w->offset, 0);
	assert_int_equal(value(w->counts.waiting), 0);
	assert_int_equal(value(w->counts.waited), 1);
	assert_int_equal(value(w->counts.grants), 1);
	assert_int_equal(value(w->counts.blocks_granted), 1);
	assert_int_equal(
		high_water_file_get(w->high_water_file, w->f->space).cursor, 1);
	take(w);
	assert_int_equal(w->issued, 2);
	assert_int_equal(w->offset, 1);
	assert_int_equal(value(w->counts.waited), 1);
}

static void those_who_wait_are_served_in_their_order(void **state)
{
	struct world *w = *state;

	open_pool(w, 3600 * 1000, 10);
	for (int i = 0; i < 10; i++)
		take(w);
	until(w, w->answered == 10);
	for (int i = 0; i < 10; i++)
		assert_int_equal(w->order[i], i);
	assert_int_equal(w->issued, 10);
	assert_int_equal(value(w->counts.grants), 1);
}

static void no_more_wait_than_may(void **state)
{
	struct world *w = *state;

	open_pool(w, 3600 * 1000, 2);
	take(w);
	take(w);
	assert_int_equal(w->answered, 0);
	take(w);
	assert_int_equal(w->answered, 1);
	assert_int_equal(w->order[0], 2);
	assert_string_equal(w->last.text,
			    "too many links are waiting for a block");
	assert_true(w->last.retriable);
	until(w, w->issued == 2);
}

static void the_next_grant_is_asked_for_at_the_last_fifth(void **state)
{
	struct world *w = *state;

	open_pool(w, 3600 * 1000, 10);
	take_code(w);
	while (w->issued < 799)
		take(w);
	until(w, redis_async_pending(w->a->redis) == 0);
	assert_int_equal(value(w->counts.grants), 1);
	take(w);
	until(w, value(w->counts.grants) == 2);
	until(w, redis_async_pending(w->a->redis) == 0);
	assert_int_equal(value(w->counts.waited), 1);
}

static void
the_next_grant_is_asked_for_in_the_last_fifth_of_the_hold(void **state)
{
	struct world *w = *state;
	int64_t asked;

	open_pool(w, 30000, 10);
	asked = loop_now_ms(w->a->loop);
	take_code(w);
	take(w);
	until(w, redis_async_pending(w->a->redis) == 0);
	if (loop_now_ms(w->a->loop) < asked + 24000)
		assert_int_equal(value(w->counts.grants), 1);
	block_pool_free(w->pool);
	open_pool(w, 2000, 10);
	asked = loop_now_ms(w->a->loop);
	take_code(w);
	until(w, loop_now_ms(w->a->loop) >= asked + 1700);
	take(w);
	until(w, value(w->counts.grants) == 3);
}

/* --- holds ---------------------------------------------------------------- */

/* The answer comes late: the hold has begun with the question.  Counted from
 * the answer, block 0 would still be issued from. */
static void a_hold_counts_from_the_question(void **state)
{
	struct world *w = *state;
	const int64_t hold = 3000, late = 1500;
	int64_t asked;

	open_pool(w, hold, 10);
	take(w);
	asked = clock_boottime_ms();
	while (clock_boottime_ms() < asked + late)
		usleep(10000);
	until(w, w->answered);
	while (clock_boottime_ms() < asked + hold)
		usleep(10000);
	take_code(w);
	assert_int_not_equal(w->block.number, 0);
}

static void blocks_are_given_up_though_nobody_asks(void **state)
{
	struct world *w = *state;

	open_pool(w, 1000, 10);
	take_code(w);
	until(w, value(w->counts.blocks_expired) == 1);
	assert_int_equal(value(w->counts.held), 0);
	assert_int_equal(value(w->counts.grants), 1);
	take_code(w);
	assert_int_equal(w->block.number, 1);
}

static void a_block_that_is_dropped_gives_no_more_codes(void **state)
{
	struct world *w = *state;

	open_pool(w, 3600 * 1000, 10);
	take_code(w);
	assert_int_equal(w->block.number, 0);
	class_pool_drop(w->day, &w->block);
	take_code(w);
	assert_int_equal(w->block.number, 1);
	assert_int_equal(w->offset, 0);
}

/* --- what fails ----------------------------------------------------------- */

static void back_off_ends(struct world *w)
{
	for (int64_t from = loop_now_ms(w->a->loop);
	     loop_now_ms(w->a->loop) < from + 150;)
		turn(w);
}

static void a_grant_that_fails_is_not_asked_for_again_at_once(void **state)
{
	struct world *w = *state;

	open_pool(w, 3600 * 1000, 10);
	freeReplyObject(redis_server_ask(&w->f->server, "DEL space:{s5}"));
	take(w);
	take(w);
	until(w, w->answered == 2);
	assert_int_equal(w->last.code, ERROR_NOTFOUND);
	assert_int_equal(value(w->counts.waiting), 0);
	assert_int_equal(value(w->counts.grants_failed), 1);
	take(w);
	assert_int_equal(w->answered, 3);
	assert_int_equal(w->last.code, ERROR_NOTFOUND);
	assert_int_equal(value(w->counts.grants_failed), 1);
	back_off_ends(w);
	take(w);
	assert_int_equal(w->answered, 3);
	until(w, value(w->counts.grants_failed) == 2);
}

static void a_full_space_is_told(void **state)
{
	struct world *w = *state;
	char words[64];

	open_pool(w, 3600 * 1000, 10);
	snprintf(words, sizeof(words), "SET cursor:{s5} %llu",
		 (unsigned long long)w->f->space->blocks);
	freeReplyObject(redis_server_ask(&w->f->server, words));
	take(w);
	until(w, w->answered);
	assert_int_equal(w->last.code, ERROR_EXHAUSTED);
	assert_int_equal(w->issued, 0);
}

/* Redis grants what another holds: eight times, and no longer. */
static void grants_of_which_no_block_opens_come_to_an_end(void **state)
{
	struct world *w = *state;
	struct link_block block = {.space = w->f->space,
				   .ttl = w->f->day,
				   .generation = 1,
				   .holder = "another#1"};
	int64_t end;

	for (block.number = 0; block.number < 200; block.number++)
		must(w->f, await_open(w->f->await, &block, &end, &w->f->err));
	open_pool(w, 3600 * 1000, 10);
	take(w);
	until(w, w->answered);
	assert_int_equal(w->issued, 0);
	assert_non_null(strstr(w->last.text, "none of the blocks granted could "
					     "be opened"));
	assert_int_equal(value(w->counts.grants), 8);
	assert_true(ask(w, "GET cursor:{s5}") < 200);
}

/* The marker is no one's: it is told, and not asked for again and again. */
static void a_block_that_cannot_be_opened_fails_those_who_wait(void **state)
{
	struct world *w = *state;

	set_marker(w->f, "nonsense");
	open_pool(w, 3600 * 1000, 10);
	take(w);
	take(w);
	until(w, w->answered == 2);
	assert_int_equal(w->issued, 0);
	assert_non_null(strstr(w->last.text, "m:{s5:0} is damaged"));
	assert_int_equal(value(w->counts.grants), 1);
	assert_int_equal(value(w->counts.waiting), 0);
	back_off_ends(w);
	take_code(w);
	assert_int_equal(w->block.number, 1);
}

static void a_grant_whose_opens_are_not_sent_fails_those_who_wait(void **state)
{
	struct world *w = *state;
	int64_t before = w->f->server.config.pending_max;

	open_pool(w, 3600 * 1000, 10);
	take(w);
	w->f->server.config.pending_max = 0;
	until(w, w->answered);
	w->f->server.config.pending_max = before;
	assert_int_equal(w->issued, 0);
	assert_true(w->last.retriable);
	assert_int_equal(value(w->counts.grants), 1);
	back_off_ends(w);
	take_code(w);
	assert_int_equal(w->block.number, 1);
}

/* --- the end -------------------------------------------------------------- */

static void on_closed(void *arg)
{
	struct world *w = arg;

	w->closed++;
}

static void a_pool_that_closes_hands_its_blocks_back(void **state)
{
	struct world *w = *state;

	w->f->config.grant_blocks = 3;
	open_pool(w, 3600 * 1000, 10);
	take_code(w);
	block_pool_close(w->pool, on_closed, w);
	assert_int_equal(w->closed, 0);
	until(w, w->closed);
	assert_int_equal(value(w->counts.blocks_returned), 2);
	assert_int_equal(ask(w, "ZCARD pool:{s5}"), 1);
	assert_int_equal(value(w->counts.held), 0);
	take(w);
	assert_string_equal(w->last.text, "the allocator is stopping");
	assert_true(w->last.retriable);
	assert_int_equal(value(w->counts.grants), 1);
	turn(w);
	assert_int_equal(w->closed, 1);
}

static void a_grant_that_comes_at_the_end_is_handed_back(void **state)
{
	struct world *w = *state;

	open_pool(w, 3600 * 1000, 10);
	take(w);
	block_pool_close(w->pool, on_closed, w);
	assert_int_equal(w->answered, 1);
	assert_string_equal(w->last.text, "the allocator is stopping");
	assert_int_equal(w->closed, 0);
	until(w, w->closed);
	assert_int_equal(w->issued, 0);
	assert_int_equal(value(w->counts.blocks_returned), 1);
	assert_int_equal(ask(w, "ZCARD pool:{s5}"), 1);
}

static void a_pool_without_blocks_closes_at_once(void **state)
{
	struct world *w = *state;

	open_pool(w, 3600 * 1000, 10);
	block_pool_close(w->pool, on_closed, w);
	assert_int_equal(w->closed, 1);
}

static void each_class_has_blocks_of_its_own(void **state)
{
	struct world *w = *state;
	struct class_pool *never;

	open_pool(w, 3600 * 1000, 10);
	never = block_pool_class(w->pool, w->f->space, w->f->never);
	assert_ptr_not_equal(never, w->day);
	assert_ptr_equal(class_pool_ttl(never), w->f->never);
	assert_ptr_equal(class_pool_ttl(w->day), w->f->day);
	take_code(w);
	assert_ptr_equal(w->block.ttl, w->f->day);
	w->day = never;
	take_code(w);
	assert_ptr_equal(w->block.ttl, w->f->never);
	assert_int_equal(w->block.number, 1);
}

#define HERE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HERE(the_first_code_waits_for_a_grant),
		HERE(those_who_wait_are_served_in_their_order),
		HERE(no_more_wait_than_may),
		HERE(the_next_grant_is_asked_for_at_the_last_fifth),
		HERE(the_next_grant_is_asked_for_in_the_last_fifth_of_the_hold),
		HERE(a_hold_counts_from_the_question),
		HERE(blocks_are_given_up_though_nobody_asks),
		HERE(a_block_that_is_dropped_gives_no_more_codes),
		HERE(a_grant_that_fails_is_not_asked_for_again_at_once),
		HERE(a_full_space_is_told),
		HERE(grants_of_which_no_block_opens_come_to_an_end),
		HERE(a_block_that_cannot_be_opened_fails_those_who_wait),
		HERE(a_grant_whose_opens_are_not_sent_fails_those_who_wait),
		HERE(a_pool_that_closes_hands_its_blocks_back),
		HERE(a_grant_that_comes_at_the_end_is_handed_back),
		HERE(a_pool_without_blocks_closes_at_once),
		HERE(each_class_has_blocks_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
