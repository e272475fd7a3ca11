/* A chunk is checked and closed: the state of its blocks, from markers and the
 * marks of grants. */
#include "tests/unit/linkstore/sent.h"
#include "tests/unit/reclaimer/scene.h"

/* Sends a command over a connection of its own. */
static void act_as_another(struct fixture *f, int argc, const char **argv)
{
	redisContext *c = redisConnectUnix(f->server.address + strlen("unix:"));
	redisReply *reply = redisCommandArgv(c, argc, argv, NULL);

	assert_non_null(reply);
	assert_int_not_equal(reply->type, REDIS_REPLY_ERROR);
	freeReplyObject(reply);
	redisFree(c);
}

static struct link_marker marker_of(struct fixture *f, int block)
{
	return read_marker(f, (uint64_t)block);
}

/* The holder may have opened the block, and Redis may have lost the marker. */
static void a_block_without_a_marker_is_freed_only_by_its_mark(void **state)
{
	struct fixture *f = *state;
	struct scene s;

	issue_member(f, "10-13:1");
	redis_server_number(&f->server,
			    "ZADD unopened:{s5} 10 10:1 12 12:2 13 13:1");
	s = fill_scene(f);
	must(f, scan_scene(f, &s));
	must(f, close_blocks(f, &s));
	must(f, settle_scene(f, &s));
	assert_int_equal(s.tally.freed, 2);
	assert_int_equal(s.tally.lost, 2);
	/* A late open of one of these blocks fails. */
	assert_false(marker_of(f, 10).open);
	assert_false(marker_of(f, 13).open);
	assert_int_equal(marker_of(f, 10).generation, 1);
	assert_int_equal(redis_server_number(&f->server, "EXISTS m:{s5:11}"),
			 0);
	close_scene(&s);
}

/* This is more than one query takes, and more than are closed ahead. */
static void marks_of_many_blocks_are_each_their_own(void **state)
{
	enum {
		MANY = 1300
	};
	struct fixture *f = *state;
	struct scene s;

	issue_member(f, "0-1299:1");
	for (int i = 0; i < MANY; i++) {
		char words[64];

		snprintf(words, sizeof(words), "ZADD unopened:{s5} %d %d:1", i,
			 i);
		if (i % 3)
			redis_server_number(&f->server, words);
	}
	s = fill_scene(f);
	must(f, scan_scene(f, &s));
	/* One of the blocks was opened and has ended. */
	put_marker(f, 700, "1 o 1s 1000 2000 holder");
	must(f, close_blocks(f, &s));
	must(f, settle_scene(f, &s));
	assert_int_equal(s.tally.freed, 866);
	assert_int_equal(s.tally.lost, 434);
	for (int i = 0; i < MANY; i++) {
		char words[64];

		snprintf(words, sizeof(words), "EXISTS m:{s5:%d}", i);
		assert_int_equal(redis_server_number(&f->server, words),
				 i % 3 != 0);
	}
	close_scene(&s);
}

static void many_that_were_granted_for_ever_are_each_their_own(void **state)
{
	enum {
		MANY = 1100
	};
	struct fixture *f = *state;
	struct scene s;
	char words[96];

	issue_member(f, "0-1099:2");
	for (int i = 0; i < MANY; i++) {
		put_marker(f, i, "1 c never 1000 2000 holder");
		snprintf(words, sizeof(words), "ZADD endless:{s5} %d %d:2", i,
			 i);
		redis_server_number(&f->server, words);
		snprintf(words, sizeof(words), "ZADD unopened:{s5} %d %d:2", i,
			 i);
		if (i % 3)
			redis_server_number(&f->server, words);
	}
	s = fill_scene(f);
	must(f, scan_scene(f, &s));
	chunk_count(s.chunk, s.gaps, &s.tally);
	assert_int_equal(s.tally.freed, 733);
	assert_int_equal(s.tally.lost, 367);
	close_scene(&s);
}

/* Marks are read after markers. */
static void a_block_that_was_opened_between_two_looks_is_not_lost(void **state)
{
	struct fixture *f = *state;
	struct scene s;

	issue_member(f, "10-10:1");
	redis_server_number(&f->server, "ZADD unopened:{s5} 10 10:1");
	s = fill_scene(f);
	must(f, scan_scene(f, &s));
	put_marker(f, 10, "1 o never 1000 never holder");
	must(f, close_blocks(f, &s));
	must(f, settle_scene(f, &s));
	assert_int_equal(s.tally.freed, 0);
	assert_int_equal(s.tally.live, 1);
	assert_true(marker_of(f, 10).open);
	close_scene(&s);
}

static void open_block_10(struct fixture *f)
{
	act_as_another(f, 3,
		       (const char *[]){"SET", "m:{s5:10}",
					"1 o never 1000 never holder"});
}

static void refuse_markers(struct fixture *f)
{
	act_as_another(f, 4,
		       (const char *[]){"ACL", "SETUSER", "default", "-mget"});
}

/* The holder opens the block after its marker was read, and before its mark is.
 */
static void a_block_that_is_opened_during_a_look_is_not_lost(void **state)
{
	struct fixture *f = *state;
	struct scene s;

	issue_member(f, "10-11:1");
	s = fill_scene(f);
	act_before(f, "unopened:", open_block_10);
	must(f, scan_scene(f, &s));
	assert_command_was_met();
	chunk_count(s.chunk, s.gaps, &s.tally);
	assert_int_equal(s.tally.live, 1);
	assert_int_equal(s.tally.lost, 1);
	close_scene(&s);
}

static void a_second_look_that_fails_stops_the_run(void **state)
{
	struct fixture *f = *state;
	struct scene s;

	issue_member(f, "10-11:1");
	s = fill_scene(f);
	act_before(f, "unopened:", refuse_markers);
	must_fail(f, scan_scene(f, &s), ERROR_REMOTE);
	assert_command_was_met();
	run_command(f, "ACL SETUSER default +mget");
	close_scene(&s);
}

static void blocks_of_each_generation_are_closed_under_it(void **state)
{
	struct fixture *f = *state;
	struct scene s;

	issue_member(f, "10-11:3");
	issue_member(f, "20-20:1");
	issue_member(f, "30-30:2");
	put_marker(f, 10, "3 o 1s 1000 2000 holder");
	put_marker(f, 11, "2 c 1s 1000 2000 holder");
	put_marker(f, 20, "1 o 1s 1000 2000 holder");
	put_marker(f, 30, "2 o 1s 1000 2000 holder");
	s = fill_scene(f);
	must(f, scan_scene(f, &s));
	must(f, close_blocks(f, &s));
	must(f, settle_scene(f, &s));
	assert_int_equal(s.tally.freed, 4);
	for (int i = 0; i < 4; i++) {
		static const struct {
			int block;
			uint32_t generation;
		} closed[] = {{10, 3}, {11, 3}, {20, 1}, {30, 2}};

		assert_false(marker_of(f, closed[i].block).open);
		assert_int_equal(marker_of(f, closed[i].block).generation,
				 closed[i].generation);
	}
	close_scene(&s);
}

static void a_block_that_was_renewed_after_the_look_is_kept(void **state)
{
	struct fixture *f = *state;
	struct scene s;

	issue_member(f, "10-12:1");
	for (int block = 10; block <= 12; block++)
		put_marker(f, block, "1 o 1s 1000 2000 holder");
	s = fill_scene(f);
	must(f, scan_scene(f, &s));
	put_marker(f, 11, "1 o 1s 1000 99999999999999 holder");
	must(f, close_blocks(f, &s));
	must(f, settle_scene(f, &s));
	assert_int_equal(s.tally.freed, 2);
	assert_int_equal(s.tally.live, 1);
	assert_true(marker_of(f, 11).open);
	assert_int_equal(
		redis_server_number(&f->server, "ZSCORE issued:{s5} 11-11:1"),
		100000000000000);
	close_scene(&s);
}

static void what_redis_does_not_tell_stops_the_run(void **state)
{
	static const char *const refused[] = {"mget", "evalsha", "zmscore"};
	struct fixture *f = *state;
	struct scene s;
	char words[64];

	issue_member(f, "10-11:2");
	put_marker(f, 10, "1 c 1s 1000 2000 holder");
	s = fill_scene(f);
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		snprintf(words, sizeof(words), "ACL SETUSER default -%s",
			 refused[i]);
		freeReplyObject(redis_server_ask(&f->server, words));
		assert_int_equal(scan_scene(f, &s), -1);
		assert_int_equal(f->err.code, ERROR_REMOTE);
		snprintf(words, sizeof(words), "ACL SETUSER default +%s",
			 refused[i]);
		freeReplyObject(redis_server_ask(&f->server, words));
	}
	must(f, scan_scene(f, &s));
	freeReplyObject(
		redis_server_ask(&f->server, "ACL SETUSER default -evalsha"));
	assert_int_equal(close_blocks(f, &s), -1);
	freeReplyObject(
		redis_server_ask(&f->server, "ACL SETUSER default +evalsha"));
	close_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_block_without_a_marker_is_freed_only_by_its_mark),
		TEST(marks_of_many_blocks_are_each_their_own),
		TEST(many_that_were_granted_for_ever_are_each_their_own),
		TEST(a_block_that_was_opened_between_two_looks_is_not_lost),
		TEST(a_block_that_is_opened_during_a_look_is_not_lost),
		TEST(a_second_look_that_fails_stops_the_run),
		TEST(blocks_of_each_generation_are_closed_under_it),
		TEST(a_block_that_was_renewed_after_the_look_is_kept),
		TEST(what_redis_does_not_tell_stops_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
