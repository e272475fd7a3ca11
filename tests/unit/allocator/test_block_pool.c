/* Codes for new links: when blocks are requested, how long they are held, and
 * what happens to waiting requests. */
#include "tests/unit/allocator/pool_world.h"

#include "allocator/block_pool/class_pool.h"

/* --- grants --------------------------------------------------------------- */

static void the_first_code_waits_for_a_grant(void **state)
{
	struct world *w = *state;

	open_pool(w, 3600 * 1000, 10);
	request_code(w);
	assert_int_equal(w->answered, 0);
	assert_int_equal(read_metric(w->counts.waiting), 1);
	until(w, w->answered);
	assert_int_equal(w->issued, 1);
	assert_int_equal(w->block.number, 0);
	assert_int_equal(w->offset, 0);
	assert_int_equal(read_metric(w->counts.waiting), 0);
	assert_int_equal(read_metric(w->counts.waited), 1);
	assert_int_equal(read_metric(w->counts.grants), 1);
	assert_int_equal(read_metric(w->counts.blocks_granted), 1);
	assert_int_equal(
		high_water_file_get(w->high_water_file, w->f->space).cursor, 1);
	request_code(w);
	assert_int_equal(w->issued, 2);
	assert_int_equal(w->offset, 1);
	assert_int_equal(read_metric(w->counts.waited), 1);
}

static void those_who_wait_are_served_in_their_order(void **state)
{
	struct world *w = *state;

	open_pool(w, 3600 * 1000, 10);
	for (int i = 0; i < 10; i++)
		request_code(w);
	until(w, w->answered == 10);
	for (int i = 0; i < 10; i++)
		assert_int_equal(w->order[i], i);
	assert_int_equal(w->issued, 10);
	assert_int_equal(read_metric(w->counts.grants), 1);
}

/* The request is the only one in the queue then. */
static void a_request_that_was_answered_may_wait_again(void **state)
{
	struct world *w = *state;

	open_pool(w, 3600 * 1000, 10);
	request_code(w);
	request_code(w);
	until(w, w->answered == 2);
	class_pool_drop(w->day, &w->block);
	class_pool_take(w->day, &w->requests[0].request);
	assert_int_equal(w->answered, 2);
	until(w, w->answered > 2);
	assert_int_equal(w->order[2], 0);
	assert_int_equal(w->answered, 3);
	assert_int_equal(read_metric(w->counts.waiting), 0);
}

static void no_more_wait_than_may(void **state)
{
	struct world *w = *state;

	open_pool(w, 3600 * 1000, 2);
	request_code(w);
	request_code(w);
	assert_int_equal(w->answered, 0);
	request_code(w);
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
		request_code(w);
	until(w, redis_async_pending(w->a->redis) == 0);
	assert_int_equal(read_metric(w->counts.grants), 1);
	request_code(w);
	until(w, read_metric(w->counts.grants) == 2);
	until(w, redis_async_pending(w->a->redis) == 0);
	assert_int_equal(read_metric(w->counts.waited), 1);
}

static void
the_next_grant_is_asked_for_in_the_last_fifth_of_the_hold(void **state)
{
	struct world *w = *state;
	int64_t asked;

	open_pool(w, 30000, 10);
	asked = loop_now_ms(w->a->loop);
	take_code(w);
	request_code(w);
	until(w, redis_async_pending(w->a->redis) == 0);
	if (loop_now_ms(w->a->loop) < asked + 24000)
		assert_int_equal(read_metric(w->counts.grants), 1);
	block_pool_free(w->pool);
	open_pool(w, 2000, 10);
	asked = loop_now_ms(w->a->loop);
	take_code(w);
	until(w, loop_now_ms(w->a->loop) >= asked + 1700);
	request_code(w);
	until(w, read_metric(w->counts.grants) == 3);
}

/* --- holds ---------------------------------------------------------------- */

/* The answer comes late, but the hold begins with the request.  If it were
 * counted from the answer, codes of block 0 would still be issued. */
static void a_hold_counts_from_the_question(void **state)
{
	struct world *w = *state;
	const int64_t hold = 3000, late = 1500;
	int64_t asked;

	open_pool(w, hold, 10);
	request_code(w);
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
	until(w, read_metric(w->counts.blocks_expired) == 1);
	assert_int_equal(read_metric(w->counts.held), 0);
	assert_int_equal(read_metric(w->counts.grants), 1);
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

/* --- failures ------------------------------------------------------------- */

static void back_off_ends(struct world *w)
{
	for (int64_t from = loop_now_ms(w->a->loop);
	     loop_now_ms(w->a->loop) < from + 150;)
		run_loop_turns(w);
}

static void a_grant_that_fails_is_not_asked_for_again_at_once(void **state)
{
	struct world *w = *state;

	open_pool(w, 3600 * 1000, 10);
	freeReplyObject(redis_server_ask(&w->f->server, "DEL space:{s5}"));
	request_code(w);
	request_code(w);
	until(w, w->answered == 2);
	assert_int_equal(w->last.code, ERROR_NOTFOUND);
	assert_int_equal(read_metric(w->counts.waiting), 0);
	assert_int_equal(read_metric(w->counts.grants_failed), 1);
	request_code(w);
	assert_int_equal(w->answered, 3);
	assert_int_equal(w->last.code, ERROR_NOTFOUND);
	assert_int_equal(read_metric(w->counts.grants_failed), 1);
	back_off_ends(w);
	request_code(w);
	assert_int_equal(w->answered, 3);
	until(w, read_metric(w->counts.grants_failed) == 2);
}

static void a_full_space_is_told(void **state)
{
	struct world *w = *state;
	char words[64];

	open_pool(w, 3600 * 1000, 10);
	snprintf(words, sizeof(words), "SET cursor:{s5} %llu",
		 (unsigned long long)w->f->space->blocks);
	freeReplyObject(redis_server_ask(&w->f->server, words));
	request_code(w);
	until(w, w->answered);
	assert_int_equal(w->last.code, ERROR_EXHAUSTED);
	assert_int_equal(w->issued, 0);
}

/* Redis grants blocks of another holder: eight times at most. */
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
	request_code(w);
	until(w, w->answered);
	assert_int_equal(w->issued, 0);
	assert_non_null(strstr(w->last.text, "none of the blocks granted could "
					     "be opened"));
	assert_int_equal(read_metric(w->counts.grants), 8);
	assert_true(query_redis_number(w, "GET cursor:{s5}") < 200);
}

/* The marker belongs to no holder: this is reported, and no further request is
 * sent. */
static void a_block_that_cannot_be_opened_fails_those_who_wait(void **state)
{
	struct world *w = *state;

	set_marker(w->f, "nonsense");
	open_pool(w, 3600 * 1000, 10);
	request_code(w);
	request_code(w);
	until(w, w->answered == 2);
	assert_int_equal(w->issued, 0);
	assert_non_null(strstr(w->last.text, "m:{s5:0} is damaged"));
	assert_int_equal(read_metric(w->counts.grants), 1);
	assert_int_equal(read_metric(w->counts.waiting), 0);
	back_off_ends(w);
	take_code(w);
	assert_int_equal(w->block.number, 1);
}

static void a_grant_whose_opens_are_not_sent_fails_those_who_wait(void **state)
{
	struct world *w = *state;
	int64_t before = w->f->server.config.pending_max;

	open_pool(w, 3600 * 1000, 10);
	request_code(w);
	w->f->server.config.pending_max = 0;
	until(w, w->answered);
	w->f->server.config.pending_max = before;
	assert_int_equal(w->issued, 0);
	assert_true(w->last.retriable);
	assert_int_equal(read_metric(w->counts.grants), 1);
	back_off_ends(w);
	take_code(w);
	assert_int_equal(w->block.number, 1);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		HERE(the_first_code_waits_for_a_grant),
		HERE(those_who_wait_are_served_in_their_order),
		HERE(a_request_that_was_answered_may_wait_again),
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
		HERE(each_class_has_blocks_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
