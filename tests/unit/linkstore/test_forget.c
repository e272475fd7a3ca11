/* Promise 10: a Redis that forgets.  Its append-only file is cut, as after a
 * failover or a restored backup; blocks that it granted since are granted to no
 * other caller. */
#include "tests/unit/linkstore/fixture.h"

#include <inttypes.h>

#include "linkstore/block/block_scan.h"
#include "linkstore/block/unopened.h"
#include "linkstore/space/manual_hold.h"
#include "linkstore/space/raise_cursor.h"
#include "linkstore/space/space_gaps.h"
#include "linkstore/space/space_repair.h"
#include "linkstore/target.h"

static struct grant make_day_grant(struct fixture *f, unsigned blocks)
{
	static struct grant g;

	must(f, try_grant(f, f->day, blocks, 0, &g));
	return g;
}

/* Waits until the next grants fall into one minute of Redis' clock. */
static void await_quiet_minute(void)
{
	if (clock_real_ms() % CLOCK_MINUTE > 55000)
		sleep_ms((int)(CLOCK_MINUTE - clock_real_ms() % CLOCK_MINUTE));
}

static long long read_cursor(struct fixture *f)
{
	return redis_server_number(&f->server, "GET cursor:{s5}");
}

static long long is_issued(struct fixture *f, const char *range)
{
	char words[96];

	snprintf(words, sizeof(words), "ZSCORE issued:{s5} %s", range);
	return redis_server_number(&f->server, words) > 0;
}

/* --- fresh blocks --------------------------------------------------------- */

static void what_was_granted_and_forgotten_is_not_granted_again(void **state)
{
	struct fixture *f = *state;
	struct grant g;

	make_day_grant(f, 2);
	redis_server_keep(&f->server);
	g = make_day_grant(f, GAP);
	assert_int_equal(g.high_water.cursor, 2 + GAP);
	redis_server_forget(&f->server);
	assert_int_equal(read_cursor(f), 2);
	g = make_day_grant(f, 1);
	assert_int_equal(g.ranges[0].first, 2 + GAP);
	assert_true(is_issued(f, "2-8:1"));
}

static void the_gap_is_twice_the_busiest_minute(void **state)
{
	struct fixture *f = *state;
	struct grant g;

	await_quiet_minute();
	make_day_grant(f, 12);
	make_day_grant(f, 8);
	redis_server_keep(&f->server);
	make_day_grant(f, 40);
	redis_server_forget(&f->server);
	g = make_day_grant(f, 1);
	assert_int_equal(g.ranges[0].first, 20 + 2 * 20);
}

static void yesterdays_busiest_minute_counts(void **state)
{
	struct fixture *f = *state;
	char day[RFC3339_TEXT_MAX], words[96];
	struct grant g;

	rfc3339_format(clock_real_ms() - CLOCK_DAY, day);
	snprintf(words, sizeof(words), "HSET day:{s5}:%.4s%.2s%.2s busiest 30",
		 day, day + 5, day + 8);
	redis_server_number(&f->server, words);
	redis_server_restart(&f->server);
	g = make_day_grant(f, 1);
	assert_int_equal(g.ranges[0].first, 60);
}

/* The configured gap must not use up a small space; the grants that were
 * observed within a minute did happen. */
static void the_observed_rate_may_pass_a_64th_of_the_space(void **state)
{
	struct fixture *f = *state;
	struct grant g;

	f->config.safety_gap = 100000;
	fixture_open_store(f);
	assert_int_equal(f->space->safety_gap, 14776 / 64);
	make_day_grant(f, 200);
	redis_server_restart(&f->server);
	g = make_day_grant(f, 1);
	assert_int_equal(g.ranges[0].first, 200 + 400);
}

static void who_only_reads_learns_how_far_the_cursor_may_jump(void **state)
{
	struct fixture *f = *state;
	struct link_target near, far, t;

	await_quiet_minute();
	for (int i = 0; i < 10; i++)
		make_day_grant(f, 256);
	fixture_open_store(f);
	linkstore_code(f->space, 2560 + 2 * 5120 + 999, 0, &near);
	linkstore_code(f->space, 2560 + 2 * 5120 + 1000, 0, &far);
	must(f,
	     space_check(f->server.redis, f->space, SPACE_TO_ISSUE, &f->err));
	assert_true(linkstore_locate(f->store, near.code, 5, &t));
	assert_false(linkstore_locate(f->store, far.code, 5, &t));
}

/* --- pooled blocks -------------------------------------------------------- */

/* Puts the blocks 0-19 into the pool under generation 2; they were closed under
 * generation 1. */
static void fill_pool(struct fixture *f)
{
	struct grant g = make_day_grant(f, 20);
	struct link_block block = block_of(f, &g, f->day);
	struct block_range whole = {0, 19, 1};

	for (block.number = 0; block.number < 20; block.number++)
		must(f, await_close_own(f->await, &block, &f->err));
	must(f, await_hand_back(f->await, f->space, &whole, &whole, &f->err));
	redis_server_number(&f->server, "HDEL space:{s5} minute");
	sleep_ms(HOLD + 20);
}

static void forget_rate(struct fixture *f)
{
	char day[RFC3339_TEXT_MAX], words[96];

	rfc3339_format(clock_real_ms(), day);
	snprintf(words, sizeof(words), "HDEL day:{s5}:%.4s%.2s%.2s busiest",
		 day, day + 5, day + 8);
	redis_server_number(&f->server, words);
}

static void
pool_blocks_granted_and_forgotten_are_not_granted_again(void **state)
{
	struct fixture *f = *state;
	Shortloop__Link link;
	struct link_block a;
	struct space_gaps *gaps;
	struct link_target t;
	struct grant g;
	int64_t end;

	shortloop__link__init(&link);
	fill_pool(f);
	forget_rate(f);
	redis_server_keep(&f->server);
	g = make_day_grant(f, 1);
	a = block_of(f, &g, f->day);
	assert_int_equal(a.number, 0);
	assert_int_equal(a.generation, 2);
	must(f, await_open(f->await, &a, &end, &f->err));
	t = store_link(f, &a, 0);
	redis_server_forget(&f->server);
	g = make_day_grant(f, 3);
	assert_true(g.ranges[0].first >= 20);
	assert_true(is_issued(f, "0-6:2"));
	must(f, space_gaps_read(f->server.redis, f->space, &gaps, &f->err));
	assert_true(space_gaps_has(gaps, 0, 2));
	assert_true(space_gaps_has(gaps, 6, 2));
	assert_false(space_gaps_has(gaps, 7, 2));
	assert_false(space_gaps_has(gaps, 0, 3));
	space_gaps_free(gaps);
	/* A link that the former grantee creates now is refused: the marker is
	 * lost. */
	must_fail(f,
		  await_create(f->await, &a, t.code, &link, 0, &end, &f->err),
		  ERROR_NOT_OWNER);
	sleep_ms(HOLD + 20);
	g = make_day_grant(f, 13);
	assert_int_equal(g.ranges[0].first, 7);
	assert_int_equal(g.ranges[0].generation, 3);
	g = make_day_grant(f, 1);
	assert_true(g.ranges[0].first >= 20);
}

/* On a cluster, the node of the space lost data, the node of the block did not.
 */
static void a_pool_block_whose_marker_survived_stays_its_holders(void **state)
{
	struct fixture *f = *state;
	struct link_block a;
	struct block_scan look;
	char text[512], words[600];
	struct grant g;
	uint64_t block = 0;
	int64_t end;

	fill_pool(f);
	forget_rate(f);
	redis_server_keep(&f->server);
	g = make_day_grant(f, 1);
	a = block_of(f, &g, f->brief);
	must(f, await_open(f->await, &a, &end, &f->err));
	redis_server_text(&f->server, "GET m:{s5:0}", text);
	redis_server_forget(&f->server);
	snprintf(words, sizeof(words), "%s", text);
	set_marker(f, words);
	make_day_grant(f, 1);
	store_link(f, &a, 0);
	/* The range is issued again as it was: it ends and is reclaimed like
	 * any other. */
	assert_true(is_issued(f, "0-6:2"));
	must(f, block_scan_close(f->server.redis, f->space, &block, 1, 2, &look,
				 &f->err));
	assert_int_equal(look.state, BLOCK_LIVE);
	sleep_ms(1000 + HOLD + 50);
	must(f, block_scan_close(f->server.redis, f->space, &block, 1, 2, &look,
				 &f->err));
	assert_int_equal(look.state, BLOCK_ENDED);
	assert_int_equal(look.generation, 2);
}

/* This holds even for a block from beyond the gap, which then waits in the pool
 * under the next generation: it is not opened while it is open. */
static void
a_block_open_in_other_hands_is_not_opened_under_the_next(void **state)
{
	struct fixture *f = *state;
	struct link_block a, b;
	char text[512];
	struct grant g;
	int64_t end;

	fill_pool(f);
	forget_rate(f);
	redis_server_keep(&f->server);
	make_day_grant(f, 10);
	g = make_day_grant(f, 1);
	a = block_of(f, &g, f->day);
	assert_int_equal(a.number, 10);
	must(f, await_open(f->await, &a, &end, &f->err));
	redis_server_text(&f->server, "GET m:{s5:10}", text);
	redis_server_forget(&f->server);
	forget_rate(f);
	redis_server_number(&f->server, "HDEL space:{s5} minute");
	{
		const char *argv[] = {"SET", "m:{s5:10}", text};
		redisReply *reply;

		must(f, redis_command(f->server.redis, 3, argv, NULL, &reply,
				      &f->err));
		freeReplyObject(reply);
	}
	make_day_grant(f, 1);
	sleep_ms(HOLD + 20);
	g = make_day_grant(f, 4);
	b = block_of(f, &g, f->day);
	b.number = 10;
	assert_int_equal(g.ranges[0].first, 7);
	assert_int_equal(g.ranges[0].last, 10);
	assert_int_equal(b.generation, 3);
	must_fail(f, await_open(f->await, &b, &end, &f->err), ERROR_NOT_OWNER);
	store_link(f, &a, 0);
}

/* The block was opened, handed back and granted to another caller, and Redis
 * forgot all of it: the same generation must not be granted twice. */
static void a_block_handed_back_and_granted_meanwhile_has_one_grantee(void **s)
{
	struct fixture *f = *s;
	struct link_block a = open_block(f, f->brief);
	struct block_range whole = {a.number, a.number, a.generation};
	struct grant g;

	redis_server_keep(&f->server);
	must(f, await_close_own(f->await, &a, &f->err));
	must(f, await_hand_back(f->await, f->space, &whole, &whole, &f->err));
	for (int i = 0; i < GAP; i++) {
		g = make_day_grant(f, 1);
		assert_true(g.ranges[0].first != a.number);
	}
}

/* --- callers that have seen more ------------------------------------------ */

static int raise_to(struct fixture *f, uint64_t cursor)
{
	const struct high_water high_water = {.cursor = cursor};

	return space_raise_cursor(f->server.redis, f->space, &high_water,
				  &f->err);
}

static void what_one_has_seen_is_not_granted_to_another(void **state)
{
	struct fixture *f = *state;
	struct grant g;

	redis_server_keep(&f->server);
	for (int i = 0; i < 5; i++)
		g = make_day_grant(f, 200);
	redis_server_forget(&f->server);
	must(f, space_raise_cursor(f->server.redis, f->space, &g.high_water,
				   &f->err));
	g = make_day_grant(f, 1);
	assert_true(g.ranges[0].first >= 1000);
	assert_int_equal(
		redis_server_number(&f->server, "HGET space:{s5} forgot"), 1);
}

static void lifting_a_cursor_that_is_higher_changes_nothing(void **state)
{
	struct fixture *f = *state;

	make_day_grant(f, 20);
	must(f, raise_to(f, 10));
	assert_int_equal(read_cursor(f), 20);
	assert_int_equal(redis_server_number(&f->server, "ZCARD issued:{s5}"),
			 1);
}

static void a_space_that_was_not_created_is_not_lifted(void **state)
{
	struct fixture *f = *state;

	must_fail(f, raise_to(f, 14777), ERROR_UNSAFE);
	redis_server_number(&f->server, "DEL space:{s5}");
	must_fail(f, raise_to(f, 10), ERROR_NOTFOUND);
	assert_int_equal(read_cursor(f), 0);
}

/* --- back under the same run_id --------------------------------------------
 */

/* Grants to a caller that has seen this high water. */
static struct grant take_knowing(struct fixture *f, unsigned blocks,
				 const struct high_water *high_water)
{
	static struct grant g;
	struct grant_request request = {
		.space = f->space,
		.ttl = f->day,
		.blocks = blocks,
		.high_water = *high_water,
		.name = "test",
	};

	must(f, await_grant(f->await, &request, &g, &f->err));
	return g;
}

static long long read_forgot_count(struct fixture *f)
{
	return redis_server_number(&f->server, "HGET space:{s5} forgot");
}

/* Neither the cursor nor the run_id shows the loss: only the count of moves
 * does. */
static void
a_pool_block_is_not_granted_twice_under_the_same_run_id(void **state)
{
	struct fixture *f = *state;
	struct grant g, h;

	fill_pool(f);
	forget_rate(f);
	redis_server_snapshot(&f->server);
	g = make_day_grant(f, 1);
	assert_int_equal(g.ranges[0].first, 0);
	redis_server_go_back(&f->server);
	h = take_knowing(f, 1, &g.high_water);
	assert_int_equal(read_forgot_count(f), 1);
	assert_true(h.ranges[0].first >= 20);
	sleep_ms(HOLD + 20);
	h = make_day_grant(f, 20);
	for (size_t i = 0; i < h.count; i++)
		assert_true(h.ranges[i].first > 0);
	assert_true(h.ranges[0].generation > g.ranges[0].generation);
}

/* This holds for any number of forgotten blocks, here more than the safety gap.
 */
static void all_that_the_caller_saw_granted_is_set_aside(void **state)
{
	struct fixture *f = *state;
	struct grant g;

	fill_pool(f);
	forget_rate(f);
	redis_server_snapshot(&f->server);
	g = make_day_grant(f, 12);
	redis_server_go_back(&f->server);
	take_knowing(f, 1, &g.high_water);
	/* The 12 blocks that were seen, and the gap. */
	assert_true(is_issued(f, "0-18:3"));
	sleep_ms(HOLD + 20);
	g = make_day_grant(f, 1);
	assert_int_equal(g.ranges[0].first, 19);
	assert_int_equal(g.ranges[0].generation, 3);
}

/* The block was granted, handed back and granted again under the next
 * generation; Redis forgot all of it, and the block is issued as it was first.
 */
static void no_generation_seen_is_granted_again(void **state)
{
	struct fixture *f = *state;
	struct link_block a = open_block(f, f->brief);
	struct block_range whole = {a.number, a.number, a.generation};
	struct high_water high_water = {0};
	struct grant g;

	redis_server_snapshot(&f->server);
	for (int i = 0; i < 3; i++) {
		must(f, await_close_own(f->await, &a, &f->err));
		must(f, await_hand_back(f->await, f->space, &whole, &whole,
					&f->err));
		sleep_ms(HOLD + 20);
		g = make_day_grant(f, 1);
		assert_int_equal(g.ranges[0].first, a.number);
		high_water_raise(&high_water, &g.high_water);
		a = block_of(f, &g, f->brief);
		whole.generation = a.generation;
	}
	assert_int_equal(a.generation, 4);
	redis_server_go_back(&f->server);
	must(f, space_raise_cursor(f->server.redis, f->space, &high_water,
				   &f->err));
	/* The first holder hands the block back: for it nothing has changed. */
	a.generation = whole.generation = 1;
	snprintf(a.holder, sizeof(a.holder), "%s",
		 read_marker(f, a.number).holder);
	must(f, await_close_own(f->await, &a, &f->err));
	must(f, await_hand_back(f->await, f->space, &whole, &whole, &f->err));
	sleep_ms(HOLD + 20);
	g = make_day_grant(f, 1);
	assert_int_equal(g.ranges[0].first, a.number);
	assert_int_equal(g.ranges[0].generation, 5);
}

/* A reclaimer is in the middle of its run, and no other program has noticed. */
static void a_run_that_saw_more_notices_too(void **state)
{
	struct fixture *f = *state;
	struct block_range member = {0, 0, 1};
	struct settle_part part = {SETTLE_LOST, {0, 0, 1}, 0};
	struct reclaim_lock lock;

	make_day_grant(f, 1);
	redis_server_snapshot(&f->server);
	make_day_grant(f, 1);
	must(f,
	     space_check(f->server.redis, f->space, SPACE_TO_RECLAIM, &f->err));
	redis_server_go_back(&f->server);
	must(f, reclaim_lock_take(f->server.redis, f->space, 10000, &lock,
				  &f->err));
	must(f, reclaim_settle(f->server.redis, &lock, &member, 1, &part, 1,
			       &f->err));
	assert_int_equal(read_forgot_count(f), 1);
}

static long long read_moves(struct fixture *f)
{
	return redis_server_number(&f->server, "HGET space:{s5} moves");
}

static void every_script_that_moves_blocks_counts(void **state)
{
	struct fixture *f = *state;
	struct link_block a = open_block(f, f->brief);
	struct block_range whole = {a.number, a.number, a.generation};

	assert_int_equal(linkstore_noted_high_water(f->space).moves, 1);
	make_day_grant(f, 3);
	assert_int_equal(linkstore_noted_high_water(f->space).moves, 4);
	must(f, await_close_own(f->await, &a, &f->err));
	must(f, await_hand_back(f->await, f->space, &whole, &whole, &f->err));
	assert_int_equal(linkstore_noted_high_water(f->space).moves, 5);
	assert_int_equal(read_moves(f), 5);
	must(f, raise_to(f, 2));
	assert_int_equal(read_moves(f), 5);
}

static void what_is_moved_by_a_run_or_by_hand_counts(void **state)
{
	struct fixture *f = *state;
	const struct block_range member = {0, 3, 1};
	const struct settle_part part = {SETTLE_LOST, {0, 3, 1}, 0};
	const struct found_member before = {SET_ISSUED, {0, 0, 1}, 0},
				  after = {SET_ISSUED, {0, 0, 2}, 0};
	const struct hold_request one = {1, 1, "ann", "why"};
	const struct repair_note note = {"ann", "why"};
	struct hold_result result;
	struct reclaim_lock lock;

	make_day_grant(f, 4);
	must(f, reclaim_lock_take(f->server.redis, f->space, 10000, &lock,
				  &f->err));
	must(f, reclaim_settle(f->server.redis, &lock, &member, 1, &part, 1,
			       &f->err));
	assert_int_equal(read_moves(f), 5);
	must(f, space_hold(f->server.redis, f->space, &one, &result, &f->err));
	assert_int_equal(read_moves(f), 6);
	must(f, space_repair(f->server.redis, &lock, &note, &before, 1, &after,
			     1, &f->err));
	assert_int_equal(read_moves(f), 7);
	must(f,
	     space_release(f->server.redis, f->space, &one, &result, &f->err));
	assert_int_equal(read_moves(f), 8);
}

/* A reader notices the loss: blocks are set aside. */
static void noticing_that_redis_forgot_counts(void **state)
{
	struct fixture *f = *state;

	make_day_grant(f, 4);
	redis_server_restart(&f->server);
	must(f, raise_to(f, 4));
	assert_int_equal(read_moves(f), 5);
}

/* The marks of unopened blocks can be older than the opening. */
static void what_was_marked_as_not_opened_is_not_believed_again(void **state)
{
	struct fixture *f = *state;

	make_day_grant(f, 3);
	assert_int_equal(redis_server_number(&f->server, "ZCARD unopened:{s5}"),
			 3);
	redis_server_restart(&f->server);
	must(f, raise_to(f, 1));
	assert_int_equal(redis_server_number(&f->server, "ZCARD unopened:{s5}"),
			 0);
}

/* Nothing was granted since Redis went back, and its run_id is the same: the
 * block has its mark again, though links without an end were created in it. */
static void a_mark_that_is_back_is_not_believed(void **state)
{
	struct fixture *f = *state;
	const uint32_t generation = 1;
	struct link_block block;
	bool unopened = false;
	struct grant g;
	int64_t end;

	must(f, try_grant(f, f->never, 1, 0, &g));
	block = block_of(f, &g, f->never);
	redis_server_snapshot(&f->server);
	must(f, await_open(f->await, &block, &end, &f->err));
	must(f, await_confirm(f->await, f->space, &g.ranges[0], &f->err));
	redis_server_go_back(&f->server);
	must(f, reclaim_unopened(f->server.redis, f->space, &block.number,
				 &generation, 1, &unopened, &f->err));
	assert_false(unopened);
	must(f, space_raise_cursor(
			f->server.redis, f->space,
			&(struct high_water){
				.moves = linkstore_noted_high_water(f->space)
						 .moves},
			&f->err));
	assert_int_equal(read_forgot_count(f), 1);
	assert_int_equal(redis_server_number(&f->server, "ZCARD unopened:{s5}"),
			 0);
}

static void a_space_without_a_record_confirms_nothing(void **state)
{
	struct fixture *f = *state;
	struct grant g = make_day_grant(f, 1);

	redis_server_number(&f->server, "DEL space:{s5}");
	must_fail(f, await_confirm(f->await, f->space, &g.ranges[0], &f->err),
		  ERROR_NOTFOUND);
	assert_int_equal(redis_server_number(&f->server, "EXISTS space:{s5}"),
			 0);
}

/* --- the pool, afterwards ---------------------------------------------------
 */

static void add_pool_member(struct fixture *f, const char *member,
			    int64_t score)
{
	char words[96];

	snprintf(words, sizeof(words), "ZADD pool:{s5} %" PRId64 " %s", score,
		 member);
	redis_server_number(&f->server, words);
}

static void a_damaged_member_does_not_cost_the_rest_of_the_pool(void **state)
{
	struct fixture *f = *state;
	struct grant g;

	fill_pool(f);
	forget_rate(f);
	add_pool_member(f, "first", 1);
	add_pool_member(f, "9-8:1", 2);
	add_pool_member(f, "last", INT64_C(99999999999999));
	redis_server_number(&f->server, "HSET space:{s5} run_id other");
	make_day_grant(f, 1);
	assert_int_equal(redis_server_number(&f->server, "ZCARD pool:{s5}"), 4);
	sleep_ms(HOLD + 20);
	g = make_day_grant(f, 1);
	assert_true(g.ranges[0].first < 20);
}

/* Only the head of the pool is rewritten: other ranges get the generation when
 * they are taken. */
static void each_time_that_redis_forgets_is_a_generation_more(void **state)
{
	struct fixture *f = *state;
	struct grant g;

	fill_pool(f);
	forget_rate(f);
	redis_server_number(&f->server, "HSET space:{s5} run_id other");
	must(f, raise_to(f, 1));
	sleep_ms(HOLD + 20);
	redis_server_number(&f->server, "HSET space:{s5} run_id another");
	must(f, raise_to(f, 1));
	assert_true(is_issued(f, "0-6:2"));
	assert_true(is_issued(f, "7-13:3"));
	g = make_day_grant(f, 1);
	assert_true(g.ranges[0].first >= 20);
	sleep_ms(HOLD + 20);
	g = make_day_grant(f, 1);
	assert_int_equal(g.ranges[0].first, 14);
	assert_int_equal(g.ranges[0].generation, 4);
}

/* A range that was pooled since does not wait and keeps its generation. */
static void what_is_pooled_after_it_keeps_its_generation(void **state)
{
	struct fixture *f = *state;
	struct grant g;

	make_day_grant(f, 30);
	redis_server_number(&f->server, "HSET space:{s5} run_id other");
	must(f, raise_to(f, 1));
	sleep_ms(HOLD + 20);
	add_pool_member(f, "0-0:7", clock_real_ms() - 5);
	g = make_day_grant(f, 1);
	assert_int_equal(g.ranges[0].first, 0);
	assert_int_equal(g.ranges[0].generation, 7);
}

/* The pool has 20,000 ranges of one block: the script that notices the loss
 * changes a few hundred of them. */
static void noticing_does_not_walk_the_pool(void **state)
{
	struct fixture *f = *state;
	static const char fill[] =
		"for i = 0, 19999 do redis.call('ZADD', KEYS[1], i + 1, "
		"string.format('%d-%d:2', i, i)) end "
		"redis.call('HSET', KEYS[2], 'run_id', 'other', 'moves', 1)";
	const char *argv[] = {"EVAL", fill, "2", "pool:{s5}", "space:{s5}"};
	struct high_water high_water = {.moves = 5000};
	redisReply *reply;
	long long left;

	must(f, redis_command(f->server.redis, 5, argv, NULL, &reply, &f->err));
	freeReplyObject(reply);
	must(f, space_raise_cursor(f->server.redis, f->space, &high_water,
				   &f->err));
	left = redis_server_number(&f->server, "ZCARD pool:{s5}");
	assert_true(left >= 20000 - 512);
	/* Later scripts set the rest aside, and no range of the pool is granted
	 * before. */
	sleep_ms(HOLD + 20);
	for (int i = 0; i < 9; i++) {
		must(f, raise_to(f, 1));
		left = redis_server_number(&f->server, "ZCARD pool:{s5}");
	}
	assert_int_equal(left, 20000 - 4999 - GAP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_granted_and_forgotten_is_not_granted_again),
		TEST(the_gap_is_twice_the_busiest_minute),
		TEST(yesterdays_busiest_minute_counts),
		TEST(the_observed_rate_may_pass_a_64th_of_the_space),
		TEST(who_only_reads_learns_how_far_the_cursor_may_jump),
		TEST(pool_blocks_granted_and_forgotten_are_not_granted_again),
		TEST(a_pool_block_whose_marker_survived_stays_its_holders),
		TEST(a_block_open_in_other_hands_is_not_opened_under_the_next),
		TEST(a_block_handed_back_and_granted_meanwhile_has_one_grantee),
		TEST(what_one_has_seen_is_not_granted_to_another),
		TEST(lifting_a_cursor_that_is_higher_changes_nothing),
		TEST(a_space_that_was_not_created_is_not_lifted),
		TEST(a_pool_block_is_not_granted_twice_under_the_same_run_id),
		TEST(all_that_the_caller_saw_granted_is_set_aside),
		TEST(no_generation_seen_is_granted_again),
		TEST(a_run_that_saw_more_notices_too),
		TEST(every_script_that_moves_blocks_counts),
		TEST(what_is_moved_by_a_run_or_by_hand_counts),
		TEST(noticing_that_redis_forgot_counts),
		TEST(what_was_marked_as_not_opened_is_not_believed_again),
		TEST(a_mark_that_is_back_is_not_believed),
		TEST(a_space_without_a_record_confirms_nothing),
		TEST(each_time_that_redis_forgets_is_a_generation_more),
		TEST(what_is_pooled_after_it_keeps_its_generation),
		TEST(noticing_does_not_walk_the_pool),
		TEST(a_damaged_member_does_not_cost_the_rest_of_the_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
