/* A chunk on its way through a run, against a real Redis: more members than one
 * script settles, of which some vanish. */
#include "tests/unit/linkstore/fixture.h"

#include "reclaimer/space/chunk.h"

enum {
	BLOCKS = 1000
};

/* Blocks 0, 2, 4 ... that have ended, each a member of its own: closed, and
 * ready to be settled. */
struct scene {
	struct due_feed *feed;
	struct chunk *chunk;
	struct space_gaps *gaps;
	struct reclaim_lock lock;
	struct tally tally;
};

static void say(struct fixture *f, int argc, const char **argv)
{
	redisReply *reply;

	must(f,
	     redis_command(f->server.redis, argc, argv, NULL, &reply, &f->err));
	freeReplyObject(reply);
}

static void put_marker(struct fixture *f, int block, const char *text)
{
	char key[64];

	snprintf(key, sizeof(key), "m:{s5:%d}", block);
	say(f, 3, (const char *[]){"SET", key, text});
}

static void put_block(struct fixture *f, int block)
{
	char words[128];

	snprintf(words, sizeof(words), "ZADD issued:{s5} %d %d-%d:1",
		 1000 + block, block, block);
	redis_server_number(&f->server, words);
	put_marker(f, block, "1 o 1s 1000 2000 holder");
}

static struct scene open_scene(struct fixture *f)
{
	const struct due_span all = {0};
	struct scene s = {0};
	size_t blocks;

	for (int i = 0; i < BLOCKS; i++)
		put_block(f, 2 * i);
	must(f, reclaim_lock_take(f->server.redis, f->space, 60000, &s.lock,
				  &f->err));
	must(f, space_gaps_read(f->server.redis, f->space, &s.gaps, &f->err));
	s.feed = due_feed_new(f->server.redis, f->space, all, 4096, false,
			      &f->err);
	s.chunk = chunk_new(4096, &f->err);
	must(f, chunk_fill(s.chunk, s.feed, 4096, &blocks, &f->err));
	must(f, chunk_scan(s.chunk, f->server.redis, f->space, s.gaps,
			   due_feed_now(s.feed), &f->err));
	must(f, chunk_close(s.chunk, f->server.redis, f->space, clock_real_ms(),
			    &f->err));
	return s;
}

static int settle(struct fixture *f, struct scene *s)
{
	const struct settle_merge merge = {0};

	return chunk_settle(s->chunk, f->server.redis, &s->lock, &merge,
			    s->gaps, &s->tally, &f->err);
}

static void close_scene(struct scene *s)
{
	chunk_free(s->chunk);
	due_feed_free(s->feed);
	space_gaps_free(s->gaps);
}

static long long members(struct fixture *f, const char *set)
{
	char words[64];

	snprintf(words, sizeof(words), "ZCARD %s:{s5}", set);
	return redis_server_number(&f->server, words);
}

static void more_members_than_a_script_takes_are_all_settled(void **state)
{
	struct fixture *f = *state;
	struct scene s = open_scene(f);

	must(f, settle(f, &s));
	assert_int_equal(s.tally.freed, BLOCKS);
	assert_int_equal(members(f, "pool"), BLOCKS);
	assert_int_equal(members(f, "issued"), 0);
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
	must(f, settle(f, &s));
	assert_int_equal(s.tally.skipped, GONE);
	assert_int_equal(s.tally.freed, BLOCKS - GONE);
	assert_int_equal(s.tally.scanned, BLOCKS);
	assert_int_equal(members(f, "pool"), BLOCKS - GONE);
	close_scene(&s);
}

/* Who was granted it is forgotten, and for how long: one that was never opened
 * has the same marker. */
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
	say(f, 4,
	    (const char *[]){"HSET", "space:{s5}", "set_aside",
			     "5001-5002:2 5003-5003:2 "});
	s = open_scene(f);
	must(f, settle(f, &s));
	assert_int_equal(s.tally.gap, 2);
	assert_int_equal(s.tally.lost, 0);
	assert_int_equal(s.tally.freed, BLOCKS + 2);
	assert_int_equal(members(f, "issued"), 2);
	assert_int_equal(redis_server_number(&f->server,
					     "ZSCORE issued:{s5} 5001-5001:2"),
			 0);
	assert_int_equal(redis_server_number(&f->server,
					     "ZSCORE issued:{s5} 5003-5003:2"),
			 0);
	close_scene(&s);
}

/* Redis may have forgotten that one of these was opened, and links of it that
 * were answered: the marker of the generation before says nothing then. */
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
	must(f, settle(f, &s));
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

/* It has not run, so that the chunk can be settled again. */
static void all_is_settled_after_redis_dropped_the_script(void **state)
{
	struct fixture *f = *state;
	struct scene s = open_scene(f);

	freeReplyObject(redis_server_ask(&f->server, "SCRIPT FLUSH"));
	assert_int_equal(settle(f, &s), -1);
	assert_true(f->err.retriable);
	assert_int_equal(s.tally.scanned, 0);
	must(f, settle(f, &s));
	assert_int_equal(s.tally.freed, BLOCKS);
	assert_int_equal(members(f, "pool"), BLOCKS);
	close_scene(&s);
}

static void nothing_is_settled_under_a_lock_that_is_anothers(void **state)
{
	struct fixture *f = *state;
	struct scene s = open_scene(f);

	redis_server_number(&f->server, "SET lock:{s5} another's");
	assert_int_equal(settle(f, &s), -1);
	assert_int_equal(f->err.code, ERROR_NOT_OWNER);
	assert_int_equal(s.tally.scanned, 0);
	assert_int_equal(members(f, "pool"), 0);
	assert_int_equal(members(f, "issued"), BLOCKS);
	close_scene(&s);
}

static void a_connection_lost_on_the_way_is_told_as_such(void **state)
{
	struct fixture *f = *state;
	struct scene s = open_scene(f);

	redis_server_kill(&f->server);
	assert_int_equal(settle(f, &s), -1);
	assert_int_equal(f->err.code, ERROR_REMOTE);
	assert_true(f->err.retriable);
	close_scene(&s);
	redis_server_run(&f->server);
	redis_server_await(&f->server);
}

static void ranges_still_to_come_are_reckoned(void **state)
{
	struct fixture *f = *state;
	struct scanned_range ranges[64];
	struct due_feed *feed;
	size_t count;

	for (int i = 0; i < 200; i++)
		put_block(f, 2 * i);
	feed = due_feed_new(f->server.redis, f->space, (struct due_span){0}, 64,
			    true, &f->err);
	assert_int_equal(due_feed_left(feed), 0);
	must(f, due_feed_take(feed, 10, ranges, &count, &f->err));
	assert_int_equal(due_feed_left(feed), 190);
	for (int i = 0; i < 19; i++)
		must(f, due_feed_take(feed, 10, ranges, &count, &f->err));
	while (count)
		must(f, due_feed_take(feed, 10, ranges, &count, &f->err));
	assert_int_equal(due_feed_left(feed), 0);
	due_feed_free(feed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(more_members_than_a_script_takes_are_all_settled),
		TEST(only_members_that_vanished_are_skipped),
		TEST(what_was_put_aside_is_lost_unless_it_has_its_own_marker),
		TEST(a_reused_block_granted_for_ever_is_freed_only_by_its_mark),
		TEST(all_is_settled_after_redis_dropped_the_script),
		TEST(nothing_is_settled_under_a_lock_that_is_anothers),
		TEST(a_connection_lost_on_the_way_is_told_as_such),
		TEST(ranges_still_to_come_are_reckoned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
