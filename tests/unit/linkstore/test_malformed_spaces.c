/* Replies about a space's accounting that Redis never gives, or not in that
 * form: the call fails and uses nothing of them. */
#include "tests/unit/linkstore/rotation.h"
#include "tests/unit/linkstore/sent.h"

#include "linkstore/block/markers.h"
#include "linkstore/block/unopened.h"
#include "linkstore/retire.h"
#include "linkstore/space/space_repair.h"
#include "linkstore/target.h"

/* A reply, and the error of the call; `says`: words of the error, or NULL. */
struct answered {
	const char *answer;
	enum error_code code;
	const char *says;
};

static void expect_error_words(const struct fixture *f, const char *words)
{
	if (words && !strstr(f->err.text, words))
		fail_msg("'%s' lacks '%s'", f->err.text, words);
}

static struct reclaim_lock take_lock(struct fixture *f)
{
	struct reclaim_lock lock;

	must(f, reclaim_lock_take(f->server.redis, f->space, 60000, &lock,
				  &f->err));
	return lock;
}

/* --- due ranges ----------------------------------------------------------- */

enum {
	PAGE = 2
};

static int ask_due(struct fixture *f, struct due_cursor *cursor, size_t *ret)
{
	static struct due_range ranges[PAGE + 1];

	return reclaim_due(f->server.redis, f->space, cursor, PAGE, ranges, ret,
			   &f->err);
}

static void what_is_due_comes_as_a_page_of_ranges(void **state)
{
	static const struct answered cases[] = {
		{"'text'", ERROR_PROTOCOL, NULL},
		{"{}", ERROR_PROTOCOL, NULL},
		{"{1, 2, 3}", ERROR_PROTOCOL, NULL},
		{"{1, 2, 3, 'text'}", ERROR_PROTOCOL, NULL},
		{"{1, 2, 3, {'1-1:1', '5', '2-2:1', '5', '3-3:1', '5'}}",
		 ERROR_PROTOCOL, NULL},
		{"{1, 2, 3, {'1-1:1', '5', 'what', '5'}}", ERROR_UNSAFE,
		 "'what'"},
		{"{1, 2, 3, {7, '5'}}", ERROR_UNSAFE, "no range"},
		{"{err = 'ERR no'}", ERROR_REMOTE, NULL},
	};
	struct fixture *f = *state;
	struct due_cursor cursor = {0};
	size_t count;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		fails_when(f, "EVALSHA", cases[i].answer,
			   ask_due(f, &cursor, &count), cases[i].code);
		expect_error_words(f, cases[i].says);
		/* The cursor continues from its place. */
		assert_int_equal(cursor.rank, 0);
		assert_string_equal(cursor.last, "");
	}
	must(f, ask_due(f, &cursor, &count));
	assert_int_equal(count, 0);
}

static void a_page_of_what_is_due_says_where_to_go_on(void **state)
{
	struct fixture *f = *state;
	struct due_cursor cursor = {0};
	size_t count;

	answer_with("EVALSHA", 0, "{7, 9, 11, {'1-1:1', '5', '2-4:3', '6'}}");
	must(f, ask_due(f, &cursor, &count));
	assert_int_equal(count, 2);
	assert_int_equal(cursor.now, 7);
	assert_int_equal(cursor.rank, 9);
	assert_int_equal(cursor.total, 11);
	assert_string_equal(cursor.last, "2-4:3");
	/* An empty page does not change the place of the last one. */
	answer_with("EVALSHA", 0, "{8, 10, 11, {}}");
	must(f, ask_due(f, &cursor, &count));
	assert_int_equal(count, 0);
	assert_int_equal(cursor.rank, 10);
	assert_string_equal(cursor.last, "2-4:3");
}

/* --- settling ------------------------------------------------------------- */

static const struct block_range member = {0, 3, 1};
static const struct settle_part part = {SETTLE_POOL, {0, 3, 2}, 0};

static int settle_range(struct fixture *f, const struct reclaim_lock *lock)
{
	return reclaim_settle(f->server.redis, lock, &member, 1, &part, 1,
			      &f->err);
}

static int settle_ahead(struct fixture *f, const struct reclaim_lock *lock)
{
	must(f, reclaim_settle_send(f->server.redis, lock, &member, 1, &part, 1,
				    &f->err));
	return reclaim_settle_take(f->server.redis, lock, &f->err);
}

static void a_range_is_settled_only_if_redis_says_so(void **state)
{
	static const struct answered cases[] = {
		{"'text'", ERROR_PROTOCOL, NULL},
		{"{}", ERROR_PROTOCOL, NULL},
		{"{1}", ERROR_PROTOCOL, NULL},
		{"{0}", ERROR_PROTOCOL, NULL},
		{"{1, 'member'}", ERROR_PROTOCOL, NULL},
		{"{1, 2, 3}", ERROR_PROTOCOL, NULL},
		{"{0, 'member'}", ERROR_NOTFOUND, NULL},
		{"{0, 'nospace'}", ERROR_UNSAFE, "no record"},
		{"{0, 'nocursor'}", ERROR_UNSAFE, "cursor"},
		{"{0, 'lock'}", ERROR_NOT_OWNER, NULL},
		{"{err = 'DAMAGED it'}", ERROR_UNSAFE, NULL},
		{"{err = 'ERR no'}", ERROR_REMOTE, NULL},
	};
	struct fixture *f = *state;
	struct reclaim_lock lock = take_lock(f);

	make_grant(f, f->day, 4);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		fails_when(f, "EVALSHA", cases[i].answer,
			   settle_range(f, &lock), cases[i].code);
		expect_error_words(f, cases[i].says);
		fails_when(f, "EVALSHA", cases[i].answer,
			   settle_ahead(f, &lock), cases[i].code);
		expect_error_words(f, cases[i].says);
	}
	must(f, settle_ahead(f, &lock));
	assert_int_equal(redis_server_number(&f->server, "ZCARD pool:{s5}"), 1);
}

static void settling_tells_how_far_the_space_has_moved(void **state)
{
	struct fixture *f = *state;
	struct reclaim_lock lock = take_lock(f);
	struct high_water reached;

	answer_with("EVALSHA", 0, "{1, 0, 77, 5}");
	must(f, settle_range(f, &lock));
	reached = linkstore_noted_high_water(f->space);
	assert_int_equal(reached.moves, 77);
	assert_int_equal(reached.generation, 5);
}

/* --- repairing ------------------------------------------------------------ */

static int repair_member(struct fixture *f, const struct reclaim_lock *lock)
{
	static const struct repair_note note = {"me", "why"};
	static const struct found_member from = {SET_ISSUED, {0, 3, 1}, 0},
					 to = {SET_ISSUED, {0, 3, 1}, 777};

	return space_repair(f->server.redis, lock, &note, &from, 1, &to, 1,
			    &f->err);
}

static void a_member_is_repaired_only_if_redis_says_so(void **state)
{
	static const struct answered cases[] = {
		{"'text'", ERROR_PROTOCOL, NULL},
		{"{}", ERROR_PROTOCOL, NULL},
		{"{1}", ERROR_PROTOCOL, NULL},
		{"{0}", ERROR_PROTOCOL, NULL},
		{"{0, 'cursor'}", ERROR_INPUT, "beyond the cursor"},
		{"{0, 'lock'}", ERROR_NOT_OWNER, NULL},
		{"{err = 'ERR no'}", ERROR_REMOTE, NULL},
	};
	struct fixture *f = *state;
	struct reclaim_lock lock = take_lock(f);

	make_grant(f, f->day, 4);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		fails_when(f, "EVALSHA", cases[i].answer,
			   repair_member(f, &lock), cases[i].code);
		expect_error_words(f, cases[i].says);
	}
	must(f, repair_member(f, &lock));
	assert_int_equal(
		redis_server_number(&f->server, "ZSCORE issued:{s5} 0-3:1"),
		777);
}

/* --- retiring a key ------------------------------------------------------- */

static void a_key_is_retired_only_if_redis_says_so(void **state)
{
	static const struct answered cases[] = {
		{"'text'", ERROR_PROTOCOL, NULL},
		{"{}", ERROR_PROTOCOL, NULL},
		{"{0}", ERROR_BUSY, "the key was used"},
		{"{0, 'used'}", ERROR_BUSY, "the key was used"},
		{"{0, 'forgot'}", ERROR_BUSY, "has restarted"},
		{"{0, 'hand'}", ERROR_BUSY, "moved by hand"},
		{"{0, 'lock'}", ERROR_NOT_OWNER, NULL},
		{"{err = 'ERR no'}", ERROR_REMOTE, NULL},
	};
	struct fixture *f = *state;
	uint64_t blocks;

	configure_keys(f, 0, 1);
	create_space(f);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		/* The first command with this key reads. */
		answer_with("hand:{s5}", 1, cases[i].answer);
		must_fail(f,
			  space_retire_key(f->server.redis, f->space, 1,
					   &blocks, &f->err),
			  cases[i].code);
		assert_command_was_met();
		expect_error_words(f, cases[i].says);
	}
	must(f,
	     space_retire_key(f->server.redis, f->space, 1, &blocks, &f->err));
}

static void a_key_whose_record_cannot_be_read_is_not_in_use(void **state)
{
	struct fixture *f = *state;
	uint64_t blocks;

	configure_keys(f, 0, 1);
	create_space(f);
	fails_when(f, "hand:{s5}", "{1, '', 0, ''}",
		   space_retire_key(f->server.redis, f->space, 1, &blocks,
				    &f->err),
		   ERROR_NOTFOUND);
	fails_when(f, "hand:{s5}", "{err = 'ERR no'}",
		   space_retire_key(f->server.redis, f->space, 1, &blocks,
				    &f->err),
		   ERROR_REMOTE);
}

/* --- marks ---------------------------------------------------------------- */

enum {
	MARKS = 2
};

static const uint64_t marked_blocks[MARKS] = {0, 1};
static const uint32_t generations[MARKS] = {1, 1};

static int ask_unopened(struct fixture *f, bool marked[MARKS])
{
	return reclaim_unopened(f->server.redis, f->space, marked_blocks,
				generations, MARKS, marked, &f->err);
}

static int ask_unproven(struct fixture *f, bool marked[MARKS])
{
	return reclaim_unproven(f->server.redis, f->space, marked_blocks,
				generations, MARKS, marked, &f->err);
}

static void marks_come_as_a_list(void **state)
{
	struct fixture *f = *state;
	bool marked[MARKS];

	fails_when(f, "EVALSHA", "'text'", ask_unopened(f, marked),
		   ERROR_PROTOCOL);
	fails_when(f, "EVALSHA", "7", ask_unopened(f, marked), ERROR_PROTOCOL);
	fails_when(f, "ZMSCORE", "'text'", ask_unproven(f, marked),
		   ERROR_PROTOCOL);
	fails_when(f, "EVALSHA", "'text'", ask_unproven(f, marked),
		   ERROR_PROTOCOL);
	fails_when(f, "ZMSCORE", "{err = 'ERR no'}", ask_unproven(f, marked),
		   ERROR_REMOTE);
	fails_when(f, "EVALSHA", "{err = 'ERR no'}", ask_unproven(f, marked),
		   ERROR_REMOTE);
}

/* Redis has noticed that it forgot: it confirms none of the marks. */
static void a_list_that_is_too_short_marks_none_of_the_rest(void **state)
{
	struct fixture *f = *state;
	bool marked[MARKS] = {true, true};

	answer_with("EVALSHA", 0, "{}");
	must(f, ask_unopened(f, marked));
	assert_false(marked[0]);
	assert_false(marked[1]);
	answer_with("EVALSHA", 0, "{'5'}");
	must(f, ask_unopened(f, marked));
	assert_true(marked[0]);
	assert_false(marked[1]);
	answer_with("EVALSHA", 0, "{false, '5'}");
	must(f, ask_unopened(f, marked));
	assert_false(marked[0]);
	assert_true(marked[1]);
}

/* --- closing unopened blocks ---------------------------------------------- */

static int close_unopened(struct fixture *f, struct block_scan looks[MARKS])
{
	return reclaim_close_unopened(f->server.redis, f->space, marked_blocks,
				      generations, MARKS, clock_real_ms(),
				      looks, &f->err);
}

/* The reply in the pipeline is not used: a separate query follows. */
static void a_block_is_closed_only_if_redis_says_so(void **state)
{
	static const char *const answers[] = {"0", "2", "'1'",
					      "{err = 'ERR no'}"};
	struct fixture *f = *state;
	struct block_scan looks[MARKS];
	bool closed;

	must(f, marker_close_lost(f->server.redis, f->space, 9, 1, &closed,
				  &f->err));
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		answer_with("m:{s5:1}", 0, answers[i]);
		must(f, close_unopened(f, looks));
		assert_command_was_met();
		assert_int_equal(looks[0].state, BLOCK_ENDED);
		assert_int_equal(looks[1].state, BLOCK_ENDED);
		assert_false(read_marker(f, 0).open);
		assert_false(read_marker(f, 1).open);
		freeReplyObject(
			redis_server_ask(&f->server, "DEL m:{s5:0} m:{s5:1}"));
	}
}

static void a_block_that_has_a_marker_by_now_is_looked_at(void **state)
{
	struct fixture *f = *state;
	struct block_scan looks[MARKS];
	const char *argv[] = {"SET", "m:{s5:1}", "1 o 1d 1000 never h"};
	redisReply *reply;

	must(f, redis_command(f->server.redis, 3, argv, NULL, &reply, &f->err));
	freeReplyObject(reply);
	must(f, close_unopened(f, looks));
	assert_int_equal(looks[0].state, BLOCK_ENDED);
	assert_int_equal(looks[1].state, BLOCK_LIVE);
	fails_when(f, "MGET", "{err = 'ERR no'}", close_unopened(f, looks),
		   ERROR_REMOTE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_due_comes_as_a_page_of_ranges),
		TEST(a_page_of_what_is_due_says_where_to_go_on),
		TEST(a_range_is_settled_only_if_redis_says_so),
		TEST(settling_tells_how_far_the_space_has_moved),
		TEST(a_member_is_repaired_only_if_redis_says_so),
		TEST(a_key_is_retired_only_if_redis_says_so),
		TEST(a_key_whose_record_cannot_be_read_is_not_in_use),
		TEST(marks_come_as_a_list),
		TEST(a_list_that_is_too_short_marks_none_of_the_rest),
		TEST(a_block_is_closed_only_if_redis_says_so),
		TEST(a_block_that_has_a_marker_by_now_is_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
