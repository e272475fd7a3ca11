/* A chunk on its way through a run, against a real Redis: more members than one
 * script settles, of which some vanish. */
#include "tests/unit/linkstore/sent.h"

#include "tests/unit/reclaimer/issued.h"
#include <errno.h>
#include <sys/random.h>

#include "reclaimer/space/chunk.h"

/* The random number that is refused, counted from now on; 0: none. */
static int random_refused;

/* In place of libc's. */
ssize_t getrandom(void *to, size_t len, unsigned flags)
{
	ssize_t (*draw)(void *, size_t, unsigned);
	void *found = dlsym(RTLD_NEXT, "getrandom");

	memcpy(&draw, &found, sizeof(draw));
	if (random_refused && !--random_refused) {
		errno = EIO;
		return -1;
	}
	return draw(to, len, flags);
}

/* Sends a command by a connection of its own. */
static void act_as_another(struct fixture *f, int argc, const char **argv)
{
	redisContext *c = redisConnectUnix(f->server.address + strlen("unix:"));
	redisReply *reply = redisCommandArgv(c, argc, argv, NULL);

	assert_non_null(reply);
	assert_int_not_equal(reply->type, REDIS_REPLY_ERROR);
	freeReplyObject(reply);
	redisFree(c);
}

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

/* A chunk of what is due. */
static struct scene fill_scene(struct fixture *f)
{
	const struct due_span all = {0};
	struct scene s = {0};
	size_t blocks;

	must(f, reclaim_lock_take(f->server.redis, f->space, 60000, &s.lock,
				  &f->err));
	must(f, space_gaps_read(f->server.redis, f->space, &s.gaps, &f->err));
	s.feed = due_feed_new(f->server.redis, f->space, all, 4096, false,
			      &f->err);
	s.chunk = chunk_new(4096, &f->err);
	must(f, chunk_fill(s.chunk, s.feed, 4096, &blocks, &f->err));
	return s;
}

static int scan(struct fixture *f, struct scene *s)
{
	return chunk_scan(s->chunk, f->server.redis, f->space, s->gaps,
			  due_feed_now(s->feed), &f->err);
}

static int close_blocks(struct fixture *f, struct scene *s)
{
	return chunk_close(s->chunk, f->server.redis, f->space, clock_real_ms(),
			   &f->err);
}

static struct scene open_scene(struct fixture *f)
{
	struct scene s;

	for (int i = 0; i < BLOCKS; i++)
		put_block(f, 2 * i);
	s = fill_scene(f);
	must(f, scan(f, &s));
	must(f, close_blocks(f, &s));
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

/* Two live blocks that end at different times: a script takes 85 such members,
 * of three parts each.  Neighbours of two members end at the same time. */
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
	must(f, scan(f, &s));
	must(f, close_blocks(f, &s));
	before = redis_server_calls(&f->server, "evalsha");
	must(f, settle(f, &s));
	assert_int_equal(redis_server_calls(&f->server, "evalsha") - before, 2);
	assert_int_equal(s.tally.live, 200);
	close_scene(&s);
}

/* 128 members, of two parts each: what the blocks of one have in common is one
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
	must(f, scan(f, &s));
	must(f, close_blocks(f, &s));
	before = redis_server_calls(&f->server, "evalsha");
	must(f, settle(f, &s));
	assert_int_equal(redis_server_calls(&f->server, "evalsha") - before, 1);
	assert_int_equal(s.tally.freed, 256);
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

/* --- looking and closing -------------------------------------------------- */

static struct link_marker marker_of(struct fixture *f, int block)
{
	return marker(f, (uint64_t)block);
}

/* Its holder may have opened it, and Redis have lost the marker. */
static void a_block_without_a_marker_is_freed_only_by_its_mark(void **state)
{
	struct fixture *f = *state;
	struct scene s;

	issue(f, "10-13:1");
	redis_server_number(&f->server,
			    "ZADD unopened:{s5} 10 10:1 12 12:2 13 13:1");
	s = fill_scene(f);
	must(f, scan(f, &s));
	must(f, close_blocks(f, &s));
	must(f, settle(f, &s));
	assert_int_equal(s.tally.freed, 2);
	assert_int_equal(s.tally.lost, 2);
	/* A late open of one fails. */
	assert_false(marker_of(f, 10).open);
	assert_false(marker_of(f, 13).open);
	assert_int_equal(marker_of(f, 10).generation, 1);
	assert_int_equal(redis_server_number(&f->server, "EXISTS m:{s5:11}"),
			 0);
	close_scene(&s);
}

/* More than one question takes, and more than are closed ahead. */
static void marks_of_many_blocks_are_each_their_own(void **state)
{
	enum {
		MANY = 1300
	};
	struct fixture *f = *state;
	struct scene s;

	issue(f, "0-1299:1");
	for (int i = 0; i < MANY; i++) {
		char words[64];

		snprintf(words, sizeof(words), "ZADD unopened:{s5} %d %d:1", i,
			 i);
		if (i % 3)
			redis_server_number(&f->server, words);
	}
	s = fill_scene(f);
	must(f, scan(f, &s));
	/* One of them was opened, and has ended. */
	put_marker(f, 700, "1 o 1s 1000 2000 holder");
	must(f, close_blocks(f, &s));
	must(f, settle(f, &s));
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

	issue(f, "0-1099:2");
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
	must(f, scan(f, &s));
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

	issue(f, "10-10:1");
	redis_server_number(&f->server, "ZADD unopened:{s5} 10 10:1");
	s = fill_scene(f);
	must(f, scan(f, &s));
	put_marker(f, 10, "1 o never 1000 never holder");
	must(f, close_blocks(f, &s));
	must(f, settle(f, &s));
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

	issue(f, "10-11:1");
	s = fill_scene(f);
	act_before(f, "unopened:", open_block_10);
	must(f, scan(f, &s));
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

	issue(f, "10-11:1");
	s = fill_scene(f);
	act_before(f, "unopened:", refuse_markers);
	must_fail(f, scan(f, &s), ERROR_REMOTE);
	assert_command_was_met();
	ask(f, "ACL SETUSER default +mget");
	close_scene(&s);
}

static void blocks_of_each_generation_are_closed_under_it(void **state)
{
	struct fixture *f = *state;
	struct scene s;

	issue(f, "10-11:3");
	issue(f, "20-20:1");
	issue(f, "30-30:2");
	put_marker(f, 10, "3 o 1s 1000 2000 holder");
	put_marker(f, 11, "2 c 1s 1000 2000 holder");
	put_marker(f, 20, "1 o 1s 1000 2000 holder");
	put_marker(f, 30, "2 o 1s 1000 2000 holder");
	s = fill_scene(f);
	must(f, scan(f, &s));
	must(f, close_blocks(f, &s));
	must(f, settle(f, &s));
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

	issue(f, "10-12:1");
	for (int block = 10; block <= 12; block++)
		put_marker(f, block, "1 o 1s 1000 2000 holder");
	s = fill_scene(f);
	must(f, scan(f, &s));
	put_marker(f, 11, "1 o 1s 1000 99999999999999 holder");
	must(f, close_blocks(f, &s));
	must(f, settle(f, &s));
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

	issue(f, "10-11:2");
	put_marker(f, 10, "1 c 1s 1000 2000 holder");
	s = fill_scene(f);
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		snprintf(words, sizeof(words), "ACL SETUSER default -%s",
			 refused[i]);
		freeReplyObject(redis_server_ask(&f->server, words));
		assert_int_equal(scan(f, &s), -1);
		assert_int_equal(f->err.code, ERROR_REMOTE);
		snprintf(words, sizeof(words), "ACL SETUSER default +%s",
			 refused[i]);
		freeReplyObject(redis_server_ask(&f->server, words));
	}
	must(f, scan(f, &s));
	freeReplyObject(
		redis_server_ask(&f->server, "ACL SETUSER default -evalsha"));
	assert_int_equal(close_blocks(f, &s), -1);
	freeReplyObject(
		redis_server_ask(&f->server, "ACL SETUSER default +evalsha"));
	close_scene(&s);
}

/* --- the sample ----------------------------------------------------------- */

static int sample(struct fixture *f, struct scene *s, struct sampler *sampler)
{
	return chunk_sample(s->chunk, f->server.redis, &s->lock, sampler,
			    &s->tally, &f->err);
}

static void put_link(struct fixture *f, uint64_t block, uint32_t offset)
{
	struct link_target t;
	char words[160];

	linkstore_code(f->space, block, offset, &t);
	snprintf(words, sizeof(words), "SET l:{s5:%llu}:%s x",
		 (unsigned long long)block, t.code);
	freeReplyObject(redis_server_ask(&f->server, words));
}

static void one_block_of_so_many_is_looked_through(void **state)
{
	struct fixture *f = *state;
	struct scene s = open_scene(f);
	struct sampler all = {.every = 1}, some = {.every = 400},
		       few = {.every = 100000};

	must(f, sample(f, &s, &all));
	assert_int_equal(s.tally.sampled, BLOCKS);
	s.tally.sampled = 0;
	/* 798 are passed over at most, of 1000. */
	must(f, sample(f, &s, &some));
	assert_in_range(s.tally.sampled, 1, 200);
	/* One at least, however few there are. */
	s.tally.sampled = 0;
	must(f, sample(f, &s, &few));
	assert_int_equal(s.tally.sampled, 1);
	assert_true(few.begun);
	s.tally.sampled = 0;
	few.wait = BLOCKS;
	must(f, sample(f, &s, &few));
	assert_int_equal(s.tally.sampled, 0);
	assert_int_equal(few.wait, 0);
	close_scene(&s);
}

static void a_sample_that_cannot_be_drawn_stops_the_run(void **state)
{
	struct fixture *f = *state;
	struct scene s = open_scene(f);
	struct sampler first = {.every = 1}, second = {.every = 1};

	random_refused = 1;
	must_fail(f, sample(f, &s, &first), ERROR_SYSTEM);
	random_refused = 2;
	must_fail(f, sample(f, &s, &second), ERROR_SYSTEM);
	assert_int_equal(s.tally.sampled, 0);
	close_scene(&s);
}

static void only_what_has_ended_is_looked_through(void **state)
{
	struct sampler all = {.every = 1};
	struct fixture *f = *state;
	struct scene s;

	issue(f, "10-13:1");
	put_marker(f, 10, "1 o never 1000 never holder");
	put_marker(f, 12, "1 o 1s 1000 2000 holder");
	put_marker(f, 13, "1 o 1s 1000 99999999999999 holder");
	put_link(f, 10, 0);
	put_link(f, 13, 0);
	s = fill_scene(f);
	must(f, scan(f, &s));
	must(f, close_blocks(f, &s));
	must(f, sample(f, &s, &all));
	assert_int_equal(s.tally.sampled, 1);
	close_scene(&s);
}

static void a_link_that_lives_in_an_ended_block_stops_the_run(void **state)
{
	struct sampler all = {.every = 1};
	struct fixture *f = *state;
	struct scene s = open_scene(f);

	put_link(f, 6, 999);
	put_link(f, 6, 0);
	assert_int_equal(sample(f, &s, &all), -1);
	assert_int_equal(f->err.code, ERROR_UNSAFE);
	assert_non_null(strstr(f->err.text, "block 6 "));
	assert_non_null(strstr(f->err.text, "2 of its links"));
	assert_int_equal(s.tally.sampled, 3);
	close_scene(&s);
}

static void nothing_is_looked_through_under_a_lock_that_is_gone(void **state)
{
	struct sampler all = {.every = 1};
	struct fixture *f = *state;
	struct scene s = open_scene(f);

	redis_server_number(&f->server, "DEL lock:{s5}");
	assert_int_equal(sample(f, &s, &all), -1);
	assert_int_equal(f->err.code, ERROR_NOT_OWNER);
	assert_int_equal(s.tally.sampled, 0);
	close_scene(&s);
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
		TEST(a_block_without_a_marker_is_freed_only_by_its_mark),
		TEST(marks_of_many_blocks_are_each_their_own),
		TEST(many_that_were_granted_for_ever_are_each_their_own),
		TEST(a_block_that_was_opened_between_two_looks_is_not_lost),
		TEST(a_block_that_is_opened_during_a_look_is_not_lost),
		TEST(a_second_look_that_fails_stops_the_run),
		TEST(blocks_of_each_generation_are_closed_under_it),
		TEST(a_block_that_was_renewed_after_the_look_is_kept),
		TEST(what_redis_does_not_tell_stops_the_run),
		TEST(one_block_of_so_many_is_looked_through),
		TEST(a_sample_that_cannot_be_drawn_stops_the_run),
		TEST(only_what_has_ended_is_looked_through),
		TEST(a_link_that_lives_in_an_ended_block_stops_the_run),
		TEST(nothing_is_looked_through_under_a_lock_that_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
