/* Promise 10: a Redis that forgets.  Its append-only file is cut, as a failover
 * or a restored backup would; what it granted since is granted to nobody else.
 */
#include "tests/unit/linkstore/fixture.h"

#include "linkstore/space/lift.h"

static struct grant take(struct fixture *f, unsigned blocks)
{
	static struct grant g;

	must(f, try_grant(f, f->day, blocks, 0, &g));
	return g;
}

/* What is granted next falls into one minute of Redis' clock. */
static void await_quiet_minute(void)
{
	if (clock_real_ms() % CLOCK_MINUTE > 55000)
		sleep_ms((int)(CLOCK_MINUTE - clock_real_ms() % CLOCK_MINUTE));
}

static long long cursor(struct fixture *f)
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

	take(f, 2);
	redis_server_keep(&f->server);
	g = take(f, GAP);
	assert_int_equal(g.seen, 2 + GAP);
	redis_server_forget(&f->server);
	assert_int_equal(cursor(f), 2);
	g = take(f, 1);
	assert_int_equal(g.ranges[0].first, 2 + GAP);
	assert_true(is_issued(f, "2-8:1"));
}

static void the_gap_is_twice_the_busiest_minute(void **state)
{
	struct fixture *f = *state;
	struct grant g;

	await_quiet_minute();
	take(f, 12);
	take(f, 8);
	redis_server_keep(&f->server);
	take(f, 40);
	redis_server_forget(&f->server);
	g = take(f, 1);
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
	g = take(f, 1);
	assert_int_equal(g.ranges[0].first, 60);
}

/* A configured gap must not eat a small space; what was seen to be granted in a
 * minute is a fact. */
static void the_observed_rate_may_pass_a_64th_of_the_space(void **state)
{
	struct fixture *f = *state;
	struct grant g;

	f->config.safety_gap = 100000;
	fixture_open_store(f);
	assert_int_equal(f->space->safety_gap, 14776 / 64);
	take(f, 200);
	redis_server_restart(&f->server);
	g = take(f, 1);
	assert_int_equal(g.ranges[0].first, 200 + 400);
}

static void who_only_reads_learns_how_far_the_cursor_may_jump(void **state)
{
	struct fixture *f = *state;
	struct link_target near, far, t;

	await_quiet_minute();
	for (int i = 0; i < 10; i++)
		take(f, 256);
	fixture_open_store(f);
	linkstore_code(f->space, 2560 + 2 * 5120 + 999, 0, &near);
	linkstore_code(f->space, 2560 + 2 * 5120 + 1000, 0, &far);
	must(f,
	     space_check(f->server.redis, f->space, SPACE_TO_ISSUE, &f->err));
	assert_true(linkstore_locate(f->store, near.code, 5, &t));
	assert_false(linkstore_locate(f->store, far.code, 5, &t));
}

/* --- pooled blocks -------------------------------------------------------- */

/* Blocks 0-19 of generation 2 in the pool, closed under generation 1. */
static void fill_pool(struct fixture *f)
{
	struct grant g = take(f, 20);
	struct link_block block = block_of(f, &g, f->day);
	struct block_range whole = {0, 19, 1};

	for (block.number = 0; block.number < 20; block.number++)
		must(f, block_close_own(f->server.redis, &block, &f->err));
	must(f, grant_hand_back(f->server.redis, f->space, &whole, &whole,
				&f->err));
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
	struct link_target t;
	struct grant g;
	int64_t end;

	shortloop__link__init(&link);
	fill_pool(f);
	forget_rate(f);
	redis_server_keep(&f->server);
	g = take(f, 1);
	a = block_of(f, &g, f->day);
	assert_int_equal(a.number, 0);
	assert_int_equal(a.generation, 2);
	must(f, block_open(f->server.redis, &a, &end, &f->err));
	t = store_link(f, &a, 0);
	redis_server_forget(&f->server);
	g = take(f, 3);
	assert_true(g.ranges[0].first >= 20);
	assert_true(is_issued(f, "0-6:2"));
	/* What the former grantee makes now is refused: its marker is lost. */
	must_fail(f,
		  link_create(f->server.redis, &a, t.code, &link, 0, &end,
			      &f->err),
		  ERROR_BUSY);
	sleep_ms(HOLD + 20);
	g = take(f, 13);
	assert_int_equal(g.ranges[0].first, 7);
	assert_int_equal(g.ranges[0].generation, 3);
	g = take(f, 1);
	assert_true(g.ranges[0].first >= 20);
}

/* A cluster: the space's node forgot, the block's did not. */
static void a_pool_block_whose_marker_survived_stays_its_holders(void **state)
{
	struct fixture *f = *state;
	struct link_block a;
	struct block_look look;
	char text[512], words[600];
	struct grant g;
	uint64_t block = 0;
	int64_t end;

	fill_pool(f);
	forget_rate(f);
	redis_server_keep(&f->server);
	g = take(f, 1);
	a = block_of(f, &g, f->brief);
	must(f, block_open(f->server.redis, &a, &end, &f->err));
	redis_server_text(&f->server, "GET m:{s5:0}", text);
	redis_server_forget(&f->server);
	snprintf(words, sizeof(words), "%s", text);
	set_marker(f, words);
	take(f, 1);
	store_link(f, &a, 0);
	/* Issued again as it was: it ends, and is reclaimed, as any other. */
	assert_true(is_issued(f, "0-6:2"));
	must(f, reclaim_close(f->server.redis, f->space, &block, 1, 2, &look,
			      &f->err));
	assert_int_equal(look.state, BLOCK_LIVE);
	sleep_ms(1000 + HOLD + 50);
	must(f, reclaim_close(f->server.redis, f->space, &block, 1, 2, &look,
			      &f->err));
	assert_int_equal(look.state, BLOCK_ENDED);
	assert_int_equal(look.generation, 2);
}

/* Even a block granted from beyond the gap, which then waits in the pool under
 * the next generation: it is not opened while it is open. */
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
	take(f, 10);
	g = take(f, 1);
	a = block_of(f, &g, f->day);
	assert_int_equal(a.number, 10);
	must(f, block_open(f->server.redis, &a, &end, &f->err));
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
	take(f, 1);
	sleep_ms(HOLD + 20);
	g = take(f, 4);
	b = block_of(f, &g, f->day);
	b.number = 10;
	assert_int_equal(g.ranges[0].first, 7);
	assert_int_equal(g.ranges[0].last, 10);
	assert_int_equal(b.generation, 3);
	must_fail(f, block_open(f->server.redis, &b, &end, &f->err),
		  ERROR_BUSY);
	store_link(f, &a, 0);
}

/* Opened, handed back and granted to another, all of which is forgotten: the
 * same generation must not come up a second time. */
static void a_block_handed_back_and_granted_meanwhile_has_one_grantee(void **s)
{
	struct fixture *f = *s;
	struct link_block a = open_block(f, f->brief);
	struct block_range whole = {a.number, a.number, a.generation};
	struct grant g;

	redis_server_keep(&f->server);
	must(f, block_close_own(f->server.redis, &a, &f->err));
	must(f, grant_hand_back(f->server.redis, f->space, &whole, &whole,
				&f->err));
	for (int i = 0; i < GAP; i++) {
		g = take(f, 1);
		assert_true(g.ranges[0].first != a.number);
	}
}

/* --- who has seen more ---------------------------------------------------- */

static void what_one_has_seen_is_not_granted_to_another(void **state)
{
	struct fixture *f = *state;
	struct grant g;

	redis_server_keep(&f->server);
	for (int i = 0; i < 5; i++)
		g = take(f, 200);
	redis_server_forget(&f->server);
	must(f, space_lift(f->server.redis, f->space, g.seen, &f->err));
	g = take(f, 1);
	assert_true(g.ranges[0].first >= 1000);
	assert_int_equal(
		redis_server_number(&f->server, "HGET space:{s5} forgot"), 1);
}

static void lifting_a_cursor_that_is_higher_changes_nothing(void **state)
{
	struct fixture *f = *state;

	take(f, 20);
	must(f, space_lift(f->server.redis, f->space, 10, &f->err));
	assert_int_equal(cursor(f), 20);
	assert_int_equal(redis_server_number(&f->server, "ZCARD issued:{s5}"),
			 1);
}

static void a_space_that_was_not_created_is_not_lifted(void **state)
{
	struct fixture *f = *state;

	must_fail(f, space_lift(f->server.redis, f->space, 14777, &f->err),
		  ERROR_UNSAFE);
	redis_server_number(&f->server, "DEL space:{s5}");
	must_fail(f, space_lift(f->server.redis, f->space, 10, &f->err),
		  ERROR_NOTFOUND);
	assert_int_equal(cursor(f), 0);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
