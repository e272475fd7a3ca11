/* A chunk has more members than one script settles, and some of them vanish. */
#include "tests/unit/reclaimer/scene.h"

static void more_members_than_a_script_takes_are_all_settled(void **state)
{
	struct fixture *f = *state;
	struct scene s = open_scene(f);

	must(f, settle_scene(f, &s));
	assert_int_equal(s.tally.freed, BLOCKS);
	assert_int_equal(count_members(f, "pool"), BLOCKS);
	assert_int_equal(count_members(f, "issued"), 0);
	close_scene(&s);
}

static void only_members_that_vanished_are_skipped(void **state)
{
	static const int gone[] = {0, 2, 254, 256, 258, 700, 1998};
	enum {
		GONE = sizeof(gone) / sizeof(gone[0])
	};
	struct fixture *f = *state;
	struct scene s = open_scene(f);
	char words[64];

	for (size_t i = 0; i < GONE; i++) {
		snprintf(words, sizeof(words), "ZREM issued:{s5} %d-%d:1",
			 gone[i], gone[i]);
		redis_server_number(&f->server, words);
	}
	must(f, settle_scene(f, &s));
	assert_int_equal(s.tally.skipped, GONE);
	assert_int_equal(s.tally.freed, BLOCKS - GONE);
	assert_int_equal(s.tally.scanned, BLOCKS);
	assert_int_equal(count_members(f, "pool"), BLOCKS - GONE);
	close_scene(&s);
}

/* The grantee and the duration are forgotten: a block that was never opened has
 * the same marker. */
static void
what_was_put_aside_is_lost_unless_it_has_its_own_marker(void **state)
{
	struct fixture *f = *state;
	struct scene s;

	redis_server_number(&f->server, "ZADD issued:{s5} 1000 5001-5003:2");
	redis_server_number(&f->server, "ZADD issued:{s5} 1000 5005-5005:2");
	put_marker(f, 5001, "1 c 1s 1000 2000 holder");
	put_marker(f, 5002, "2 o 1s 1000 2000 holder");
	put_marker(f, 5003, "1 c 1s 1000 2000 holder");
	put_marker(f, 5005, "1 c 1s 1000 2000 holder");
	run_command_argv(f, 4,
			 (const char *[]){"HSET", "space:{s5}", "set_aside",
					  "5001-5002:2 5003-5003:2 "});
	s = open_scene(f);
	must(f, settle_scene(f, &s));
	assert_int_equal(s.tally.gap, 2);
	assert_int_equal(s.tally.lost, 0);
	assert_int_equal(s.tally.freed, BLOCKS + 2);
	assert_int_equal(count_members(f, "issued"), 2);
	assert_int_equal(redis_server_number(&f->server,
					     "ZSCORE issued:{s5} 5001-5001:2"),
			 0);
	assert_int_equal(redis_server_number(&f->server,
					     "ZSCORE issued:{s5} 5003-5003:2"),
			 0);
	close_scene(&s);
}

/* Redis may have forgotten that a block was opened, and links of it that were
 * answered: the marker of the former generation proves nothing then. */
static void
a_reused_block_granted_for_ever_is_freed_only_by_its_mark(void **state)
{
	struct fixture *f = *state;
	struct scene s;

	redis_server_number(&f->server, "ZADD issued:{s5} 1000 5001-5003:2");
	redis_server_number(&f->server, "ZADD issued:{s5} 1000 5005-5005:2");
	for (int block = 5001; block <= 5005; block++)
		put_marker(f, block, "1 c never 1000 2000 holder");
	put_marker(f, 5003, "2 o never 1000 never holder");
	redis_server_number(&f->server, "ZADD endless:{s5} 5001 5001:2 5002 "
					"5002:2 5003 5003:2");
	redis_server_number(&f->server, "ZADD unopened:{s5} 5001 5001:2");
	s = open_scene(f);
	must(f, settle_scene(f, &s));
	assert_int_equal(s.tally.freed, BLOCKS + 2);
	assert_int_equal(s.tally.lost, 1);
	assert_int_equal(s.tally.live, 1);
	assert_int_equal(redis_server_number(&f->server,
					     "ZSCORE issued:{s5} 5002-5002:2"),
			 0);
	assert_int_equal(
		redis_server_number(&f->server, "ZCOUNT issued:{s5} inf inf"),
		1);
	close_scene(&s);
}

/* The script has not run, so the chunk can be settled again. */
static void all_is_settled_after_redis_dropped_the_script(void **state)
{
	struct fixture *f = *state;
	struct scene s = open_scene(f);

	freeReplyObject(redis_server_ask(&f->server, "SCRIPT FLUSH"));
	assert_int_equal(settle_scene(f, &s), -1);
	assert_true(f->err.retriable);
	assert_int_equal(s.tally.scanned, 0);
	must(f, settle_scene(f, &s));
	assert_int_equal(s.tally.freed, BLOCKS);
	assert_int_equal(count_members(f, "pool"), BLOCKS);
	close_scene(&s);
}

/* Two live blocks end at different times: a script takes 85 such members of
 * three parts each.  Neighbours in two members end at the same time. */
static void members_of_many_parts_are_settled_by_more_scripts(void **state)
{
	static const char *const ends[] = {"91000000000000", "92000000000000"};
	struct fixture *f = *state;
	long long before;
	struct scene s;

	for (int i = 0; i < 100; i++) {
		char words[64];

		snprintf(words, sizeof(words), "%d-%d:1", 3 * i, 3 * i + 1);
		issue_until(f, words, 1000 + i);
		for (int k = 0; k < 2; k++) {
			snprintf(words, sizeof(words), "1 o 1s 1000 %s holder",
				 ends[(i + k) % 2]);
			put_marker(f, 3 * i + k, words);
		}
	}
	s = fill_scene(f);
	must(f, scan_scene(f, &s));
	must(f, close_blocks(f, &s));
	before = redis_server_calls(&f->server, "evalsha");
	must(f, settle_scene(f, &s));
	assert_int_equal(redis_server_calls(&f->server, "evalsha") - before, 2);
	assert_int_equal(s.tally.live, 200);
	close_scene(&s);
}

/* 128 members have two parts each: the common state of a member's blocks is one
 * part. */
static void members_of_few_parts_are_settled_by_one_script(void **state)
{
	struct fixture *f = *state;
	long long before;
	struct scene s;

	for (int i = 0; i < 128; i++) {
		char member[64];

		snprintf(member, sizeof(member), "%d-%d:1", 3 * i, 3 * i + 1);
		issue_until(f, member, 1000 + i);
		put_marker(f, 3 * i, "1 o 1s 1000 2000 holder");
		put_marker(f, 3 * i + 1, "1 o 1s 1000 2000 holder");
	}
	s = fill_scene(f);
	must(f, scan_scene(f, &s));
	must(f, close_blocks(f, &s));
	before = redis_server_calls(&f->server, "evalsha");
	must(f, settle_scene(f, &s));
	assert_int_equal(redis_server_calls(&f->server, "evalsha") - before, 1);
	assert_int_equal(s.tally.freed, 256);
	close_scene(&s);
}

static void nothing_is_settled_under_a_lock_that_is_anothers(void **state)
{
	struct fixture *f = *state;
	struct scene s = open_scene(f);

	redis_server_number(&f->server, "SET lock:{s5} another's");
	assert_int_equal(settle_scene(f, &s), -1);
	assert_int_equal(f->err.code, ERROR_NOT_OWNER);
	assert_int_equal(s.tally.scanned, 0);
	assert_int_equal(count_members(f, "pool"), 0);
	assert_int_equal(count_members(f, "issued"), BLOCKS);
	close_scene(&s);
}

static void a_connection_lost_on_the_way_is_told_as_such(void **state)
{
	struct fixture *f = *state;
	struct scene s = open_scene(f);

	redis_server_kill(&f->server);
	assert_int_equal(settle_scene(f, &s), -1);
	assert_int_equal(f->err.code, ERROR_REMOTE);
	assert_true(f->err.retriable);
	close_scene(&s);
	redis_server_run(&f->server);
	redis_server_await(&f->server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(more_members_than_a_script_takes_are_all_settled),
		TEST(only_members_that_vanished_are_skipped),
		TEST(what_was_put_aside_is_lost_unless_it_has_its_own_marker),
		TEST(a_reused_block_granted_for_ever_is_freed_only_by_its_mark),
		TEST(all_is_settled_after_redis_dropped_the_script),
		TEST(members_of_many_parts_are_settled_by_more_scripts),
		TEST(members_of_few_parts_are_settled_by_one_script),
		TEST(nothing_is_settled_under_a_lock_that_is_anothers),
		TEST(a_connection_lost_on_the_way_is_told_as_such),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
