/* Promises 2, 5 and 10: grants, blocks that come back, and a Redis that
 * forgets. */
#include "tests/unit/linkstore/fixture.h"

#include <inttypes.h>

#include "linkstore/space/space_gaps.h"

static double read_score(struct fixture *f, const char *key, const char *member)
{
	char words[128], text[512];

	snprintf(words, sizeof(words), "ZSCORE %s %s", key, member);
	redis_server_text(&f->server, words, text);
	return *text ? strtod(text, NULL) : -1;
}

static void assert_range(const struct block_range *r, uint64_t first,
			 uint64_t last, uint32_t generation)
{
	char has[RANGE_TEXT_MAX], wanted[RANGE_TEXT_MAX];
	struct block_range want = {first, last, generation};

	assert_string_equal(range_format(r, has), range_format(&want, wanted));
}

static void blocks_are_granted_in_order_and_issued_at_once(void **state)
{
	struct fixture *f = *state;
	int64_t now = clock_real_ms();
	double due;
	struct grant g;

	g = make_grant(f, f->day, 2);
	assert_range(&g.ranges[0], 0, 1, 1);
	g = make_grant(f, f->day, 3);
	assert_range(&g.ranges[0], 2, 4, 1);
	due = read_score(f, "issued:{s5}", "2-4:1") - (double)now;
	assert_true(due >= HOLD + CLOCK_DAY && due < HOLD + CLOCK_DAY + 5000);
}

/* The run that finds them open gives them a score without an end. */
static void blocks_that_never_end_are_looked_at_after_the_hold(void **state)
{
	struct fixture *f = *state;
	int64_t now = clock_real_ms();
	double due;

	make_grant(f, f->never, 1);
	due = read_score(f, "issued:{s5}", "0-0:1") - (double)now;
	assert_true(due >= HOLD && due < HOLD + 5000);
}

static void only_reused_blocks_that_never_end_have_a_lasting_mark(void **state)
{
	struct fixture *f = *state;

	redis_server_number(&f->server, "ZADD pool:{s5} 1000 100-104:3");
	make_grant(f, f->day, 2);
	assert_int_equal(redis_server_number(&f->server, "ZCARD endless:{s5}"),
			 0);
	make_grant(f, f->never, 5);
	assert_int_equal(redis_server_number(&f->server, "ZCARD endless:{s5}"),
			 3);
	assert_int_equal(read_score(f, "endless:{s5}", "102:3"), 102);
	/* Opening the blocks removes only the other mark. */
	must(f, await_confirm(f->await, f->space,
			      &(struct block_range){102, 104, 3}, &f->err));
	assert_int_equal(read_score(f, "endless:{s5}", "104:3"), 104);
	assert_true(read_score(f, "unopened:{s5}", "104:3") < 0);
}

static void two_grants_have_two_holders(void **state)
{
	struct fixture *f = *state;
	struct grant a = make_grant(f, f->day, 1), b = make_grant(f, f->day, 1);

	assert_string_not_equal(a.holder, b.holder);
}

static void a_grant_stops_at_the_capacity(void **state)
{
	struct fixture *f = *state;
	struct grant g;

	assert_int_equal(f->space->blocks, 14776);
	redis_server_text(&f->server, "SET cursor:{s5} 14774", (char[512]){0});
	g = make_grant(f, f->day, 5);
	assert_range(&g.ranges[0], 14774, 14775, 1);
	must_fail(f, try_grant(f, f->day, 5, 0, &g), ERROR_EXHAUSTED);
	assert_true(f->err.retriable);
	assert_int_equal(redis_server_number(&f->server, "GET cursor:{s5}"),
			 14776);
}

static void a_cursor_below_what_was_seen_is_lifted_above_it(void **state)
{
	struct fixture *f = *state;
	struct grant g;

	must(f, try_grant(f, f->day, 1, 10, &g));
	assert_range(&g.ranges[0], 10, 10, 1);
	assert_int_equal(g.high_water.cursor, 11);
	assert_true(read_score(f, "issued:{s5}", "0-9:1") > 0);
}

static void a_block_seen_beyond_the_capacity_is_refused(void **state)
{
	struct fixture *f = *state;
	struct grant g;

	must_fail(f, try_grant(f, f->day, 1, 20000, &g), ERROR_UNSAFE);
	assert_int_equal(redis_server_number(&f->server, "GET cursor:{s5}"), 0);
}

/* Uses up and reclaims one block of the brief class. */
static void use_up_a_block(struct fixture *f)
{
	open_block(f, f->brief);
	sleep_ms(1000 + HOLD + 20);
	reclaim_first(f, 1, 1);
}

/* Sets the time until which the used-up block waits in the pool. */
static void put_off(struct fixture *f, int64_t until_ms)
{
	char words[64];

	snprintf(words, sizeof(words), "ZADD pool:{s5} XX %" PRId64 " 0-0:2",
		 until_ms);
	redis_server_number(&f->server, words);
}

static void the_pool_is_granted_first_after_quarantine(void **state)
{
	struct fixture *f = *state;
	int64_t before = clock_real_ms();
	struct grant g;
	double due;

	use_up_a_block(f);
	due = read_score(f, "pool:{s5}", "0-0:2") - QUARANTINE;
	assert_true(due >= (double)before - 1 &&
		    due <= (double)clock_real_ms() + 1);
	/* An hour ahead and long ago are clear cases even on a slow machine. */
	put_off(f, clock_real_ms() + CLOCK_HOUR);
	g = make_grant(f, f->day, 1);
	assert_range(&g.ranges[0], 1, 1, 1);
	put_off(f, 1000);
	g = make_grant(f, f->day, 2);
	assert_int_equal(g.count, 2);
	assert_range(&g.ranges[0], 0, 0, 2);
	assert_range(&g.ranges[1], 2, 2, 1);
}

static void a_pool_range_is_split_and_the_rest_keeps_waiting_time(void **state)
{
	struct fixture *f = *state;
	struct grant g;

	redis_server_number(&f->server, "ZADD pool:{s5} 1000 100-109:3");
	g = make_grant(f, f->day, 4);
	assert_range(&g.ranges[0], 100, 103, 3);
	assert_int_equal(read_score(f, "pool:{s5}", "104-109:3"), 1000);
	assert_true(read_score(f, "pool:{s5}", "100-109:3") < 0);
}

/* --- promise 5 ------------------------------------------------------------ */

static int hand_back(struct fixture *f, uint64_t from, uint64_t to)
{
	struct block_range whole = {0, 4, 1}, part = {from, to, 1};

	return await_hand_back(f->await, f->space, &whole, &part, &f->err);
}

/* A holder would open the block twice. */
static void a_block_that_the_pool_has_twice_is_in_a_grant_once(void **state)
{
	struct fixture *f = *state;
	struct grant g;

	redis_server_number(&f->server, "ZADD pool:{s5} 1000 100-103:3");
	redis_server_number(&f->server, "ZADD pool:{s5} 1001 103-104:3");
	redis_server_number(&f->server, "ZADD pool:{s5} 1002 105-105:3");
	must(f, try_grant(f, f->day, 7, 0, &g));
	assert_int_equal(g.count, 2);
	assert_range(&g.ranges[0], 100, 103, 3);
	assert_range(&g.ranges[1], 105, 105, 3);
}

/* Otherwise Redis could forget both and grant the block a second time under the
 * same generation. */
static void unused_blocks_go_back_to_the_pool_and_wait_there(void **state)
{
	struct fixture *f = *state;
	struct grant g;

	make_grant(f, f->day, 5);
	must(f, hand_back(f, 2, 3));
	assert_true(read_score(f, "issued:{s5}", "0-1:1") > 0);
	assert_true(read_score(f, "issued:{s5}", "4-4:1") > 0);
	g = make_grant(f, f->day, 1);
	assert_range(&g.ranges[0], 5, 5, 1);
	sleep_ms(HOLD + 20);
	g = make_grant(f, f->day, 1);
	assert_range(&g.ranges[0], 2, 2, 2);
}

static void what_goes_back_keeps_no_mark(void **state)
{
	struct fixture *f = *state;

	redis_server_number(&f->server, "ZADD pool:{s5} 1000 0-4:1");
	redis_server_number(&f->server, "ZADD endless:{s5} 2 2:1 3 3:1 4 4:1");
	make_grant(f, f->never, 5);
	must(f, hand_back(f, 2, 3));
	assert_int_equal(redis_server_number(&f->server, "ZCARD unopened:{s5}"),
			 3);
	assert_int_equal(redis_server_number(&f->server, "ZCARD endless:{s5}"),
			 1);
}

static void blocks_no_longer_issued_are_not_taken_back(void **state)
{
	struct fixture *f = *state;

	make_grant(f, f->day, 5);
	must(f, hand_back(f, 0, 4));
	must_fail(f, hand_back(f, 0, 4), ERROR_NOTFOUND);
	assert_int_equal(redis_server_number(&f->server, "ZCARD pool:{s5}"), 1);
}

/* --- promise 10 ----------------------------------------------------------- */

static void after_a_restart_the_cursor_jumps_by_the_gap(void **state)
{
	struct fixture *f = *state;
	struct space_gaps *gaps;
	struct grant g;

	make_grant(f, f->day, 3);
	redis_server_restart(&f->server);
	g = make_grant(f, f->day, 1);
	assert_range(&g.ranges[0], 3 + GAP, 3 + GAP, 1);
	assert_true(read_score(f, "issued:{s5}", "3-9:1") > 0);
	must(f, space_gaps_read(f->server.redis, f->space, &gaps, &f->err));
	assert_true(space_gaps_has(gaps, 3, 1));
	assert_true(space_gaps_has(gaps, 9, 1));
	assert_false(space_gaps_has(gaps, 2, 1));
	assert_false(space_gaps_has(gaps, 10, 1));
	/* The block was granted again since. */
	assert_false(space_gaps_has(gaps, 3, 2));
	space_gaps_free(gaps);
}

static void one_restart_makes_one_gap(void **state)
{
	struct fixture *f = *state;

	redis_server_restart(&f->server);
	make_grant(f, f->day, 1);
	make_grant(f, f->day, 1);
	assert_int_equal(redis_server_number(&f->server, "GET cursor:{s5}"),
			 GAP + 2);
}

static void the_gap_ends_at_the_capacity(void **state)
{
	struct fixture *f = *state;
	struct grant g;

	redis_server_text(&f->server, "SET cursor:{s5} 14774", (char[512]){0});
	redis_server_restart(&f->server);
	must_fail(f, try_grant(f, f->day, 1, 0, &g), ERROR_EXHAUSTED);
	assert_int_equal(redis_server_number(&f->server, "GET cursor:{s5}"),
			 14776);
}

static void after_a_restart_the_pool_waits_under_the_next_generation(void **s)
{
	struct fixture *f = *s;
	struct grant g;

	redis_server_number(&f->server, "ZADD pool:{s5} 1000 100-109:3");
	redis_server_restart(&f->server);
	g = make_grant(f, f->day, 1);
	assert_range(&g.ranges[0], GAP, GAP, 1);
	assert_true(read_score(f, "issued:{s5}", "100-106:3") > 0);
	sleep_ms(HOLD + 20);
	g = make_grant(f, f->day, 1);
	assert_range(&g.ranges[0], 107, 107, 4);
}

static void a_generation_that_would_overflow_is_retired(void **state)
{
	struct fixture *f = *state;

	redis_server_number(&f->server, "ZADD pool:{s5} 1000 100-116:32767");
	redis_server_restart(&f->server);
	make_grant(f, f->day, 1);
	sleep_ms(HOLD + 20);
	make_grant(f, f->day, 1);
	assert_int_equal(redis_server_number(&f->server, "ZCARD pool:{s5}"), 0);
	assert_int_equal(
		redis_server_number(&f->server, "HGET space:{s5} retired"), 10);
}

/* --- the ledger ----------------------------------------------------------- */

static void the_ledger_counts_blocks(void **state)
{
	struct fixture *f = *state;
	struct space_ledger ledger;

	use_up_a_block(f);
	make_grant(f, f->day, 4);
	must(f, space_read_ledger(f->server.redis, f->space, &ledger, &f->err));
	assert_int_equal(ledger.capacity, 14776);
	assert_int_equal(ledger.cursor, 5);
	assert_int_equal(ledger.issued, 4);
	assert_int_equal(ledger.due, 0);
	assert_int_equal(ledger.quarantined, 1);
	assert_int_equal(ledger.days[0].granted, 5);
	assert_int_equal(ledger.days[0].reclaimed, 1);
	assert_true(ledger.next_due > clock_real_ms());
}

static void the_ledger_is_kept_under_the_utc_day(void **state)
{
	struct fixture *f = *state;
	char day[RFC3339_TEXT_MAX], words[64];

	make_grant(f, f->day, 4);
	rfc3339_format(clock_real_ms(), day);
	snprintf(words, sizeof(words), "HGET day:{s5}:%.4s%.2s%.2s granted",
		 day, day + 5, day + 8);
	assert_int_equal(redis_server_number(&f->server, words), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(blocks_are_granted_in_order_and_issued_at_once),
		TEST(blocks_that_never_end_are_looked_at_after_the_hold),
		TEST(only_reused_blocks_that_never_end_have_a_lasting_mark),
		TEST(two_grants_have_two_holders),
		TEST(a_grant_stops_at_the_capacity),
		TEST(a_cursor_below_what_was_seen_is_lifted_above_it),
		TEST(a_block_seen_beyond_the_capacity_is_refused),
		TEST(the_pool_is_granted_first_after_quarantine),
		TEST(a_pool_range_is_split_and_the_rest_keeps_waiting_time),
		TEST(a_block_that_the_pool_has_twice_is_in_a_grant_once),
		TEST(unused_blocks_go_back_to_the_pool_and_wait_there),
		TEST(what_goes_back_keeps_no_mark),
		TEST(blocks_no_longer_issued_are_not_taken_back),
		TEST(after_a_restart_the_cursor_jumps_by_the_gap),
		TEST(one_restart_makes_one_gap),
		TEST(the_gap_ends_at_the_capacity),
		TEST(after_a_restart_the_pool_waits_under_the_next_generation),
		TEST(a_generation_that_would_overflow_is_retired),
		TEST(the_ledger_counts_blocks),
		TEST(the_ledger_is_kept_under_the_utc_day),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
