/* Replies about links and markers that Redis never gives, or not in that form:
 * the call fails, and the next one succeeds. */
#include "tests/unit/linkstore/edits.h"
#include "tests/unit/linkstore/sent.h"

#include "linkstore/block/link_check.h"
#include "linkstore/target.h"

static void run_redis_command(struct fixture *f, const char *words)
{
	freeReplyObject(redis_server_ask(&f->server, words));
}

/* --- look-ups ------------------------------------------------------------- */

static int look_up(struct fixture *f, const struct link_target *t)
{
	struct link_answer answer;
	int status = await_lookup(f->await, t, &answer, &f->err);

	if (status == 0)
		await_release(&answer.link);
	return status;
}

static void a_look_up_takes_a_record_and_a_marker_only(void **state)
{
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	struct link_target t = store_link(f, &b, 0);

	fails_when(f, "MGET", "'text'", look_up(f, &t), ERROR_PROTOCOL);
	fails_when(f, "MGET", "{}", look_up(f, &t), ERROR_PROTOCOL);
	fails_when(f, "MGET", "{false}", look_up(f, &t), ERROR_PROTOCOL);
	fails_when(f, "MGET", "{'\\255', false}", look_up(f, &t),
		   ERROR_PROTOCOL);
	fails_when(f, "MGET", "{err = 'ERR no'}", look_up(f, &t), ERROR_REMOTE);
	must(f, look_up(f, &t));
}

static void a_look_up_fails_with_the_life_of_its_link(void **state)
{
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	struct link_target t = store_link(f, &b, 0);

	fails_when(f, "PTTL", "{err = 'ERR the life'}", look_up(f, &t),
		   ERROR_REMOTE);
	assert_non_null(strstr(f->err.text, "the life"));
	must(f, look_up(f, &t));
}

static void count_answer(void *arg, const struct link_answer *answer,
			 const struct error *err)
{
	(void)answer;
	(void)err;
	++*(int *)arg;
}

/* The queue has room for the first of its two commands. */
static void a_look_up_that_is_half_sent_is_refused_once(void **state)
{
	struct fixture *f = *state;
	int64_t before = f->server.config.pending_max;
	struct link_target t;
	int answers = 0;

	linkstore_code(f->space, 0, 9, &t);
	await_connection(f->await);
	f->server.config.pending_max = 1;
	must_fail(f,
		  link_lookup_async(f->await->redis, &t, count_answer, &answers,
				    &f->err),
		  ERROR_REMOTE);
	f->server.config.pending_max = before;
	must(f, look_up(f, &t));
	assert_int_equal(answers, 0);
}

static void what_is_left_of_a_life_is_told(void **state)
{
	static const struct {
		const char *pttl;
		int64_t left;
	} cases[] = {{"-1", DURATION_NEVER}, {"-2", 0}, {"0", 0}, {"7", 7}};
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	struct link_target t = store_link(f, &b, 0);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct link_answer answer;

		answer_with("PTTL", 0, cases[i].pttl);
		answer = read_link(f, &t);
		assert_int_equal(answer.ttl_left, cases[i].left);
		assert_int_equal(answer.outcome, LINK_OUTCOME_REDIRECT);
		await_release(&answer.link);
	}
}

/* --- checks of markers ---------------------------------------------------- */

static int look_at_two(struct fixture *f, struct block_scan looks[2])
{
	static const uint64_t blocks[] = {0, 1};

	return block_scan_read(f->server.redis, f->space, blocks, 2,
			       clock_real_ms(), looks, &f->err);
}

static void a_look_takes_one_value_a_marker(void **state)
{
	static const struct {
		const char *answer;
		enum error_code code;
	} cases[] = {
		{"{false}", ERROR_PROTOCOL},
		{"{}", ERROR_PROTOCOL},
		{"{false, false, false}", ERROR_PROTOCOL},
		{"{{false}, false}", ERROR_PROTOCOL},
		{"{'1 o 1d 1 never h', 7}", ERROR_UNSAFE},
		{"{err = 'ERR no'}", ERROR_REMOTE},
		{"{err = 'DAMAGED it'}", ERROR_UNSAFE},
	};
	struct fixture *f = *state;
	struct block_scan looks[2];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		fails_when(f, "MGET", cases[i].answer, look_at_two(f, looks),
			   cases[i].code);
	must(f, look_at_two(f, looks));
	assert_int_equal(looks[0].state, BLOCK_LOST);
}

static void the_first_marker_that_is_damaged_is_told(void **state)
{
	struct fixture *f = *state;
	struct block_scan looks[2];

	fails_when(f, "MGET", "{7, 8}", look_at_two(f, looks), ERROR_UNSAFE);
	assert_non_null(strstr(f->err.text, "the marker of block 0 "));
	fails_when(f, "MGET", "{7, 8, 9}", look_at_two(f, looks), ERROR_UNSAFE);
	assert_non_null(strstr(f->err.text, "the marker of block 0 "));
	fails_when(f, "MGET", "{false, 8}", look_at_two(f, looks),
		   ERROR_UNSAFE);
	assert_non_null(strstr(f->err.text, "the marker of block 1 "));
}

/* The replies to the groups that were sent ahead are read, too, and the first
 * of two failures is reported. */
static void a_failed_look_leaves_nothing_behind(void **state)
{
	enum {
		MANY = 40000
	};
	struct fixture *f = *state;
	struct block_scan *looks = calloc(MANY, sizeof(*looks));
	uint64_t *blocks = calloc(MANY, sizeof(*blocks));

	assert_non_null(looks);
	assert_non_null(blocks);
	for (uint64_t i = 0; i < MANY; i++)
		blocks[i] = i;
	run_redis_command(f, "SET m:{s5:0} nonsense");
	run_redis_command(f, "SET m:{s5:39999} nonsense");
	must_fail(f,
		  block_scan_read(f->server.redis, f->space, blocks, MANY,
				  clock_real_ms(), looks, &f->err),
		  ERROR_UNSAFE);
	assert_non_null(strstr(f->err.text, "the marker of block 0 "));
	run_redis_command(f, "DEL m:{s5:0}");
	must_fail(f,
		  block_scan_read(f->server.redis, f->space, blocks, MANY,
				  clock_real_ms(), looks, &f->err),
		  ERROR_UNSAFE);
	assert_non_null(strstr(f->err.text, "the marker of block 39999 "));
	run_redis_command(f, "DEL m:{s5:39999}");
	must(f, block_scan_read(f->server.redis, f->space, blocks, MANY,
				clock_real_ms(), looks, &f->err));
	free(looks);
	free(blocks);
}

/* --- closing -------------------------------------------------------------- */

static int close_two(struct fixture *f, struct block_scan looks[2])
{
	static const uint64_t blocks[] = {0, 1};

	return block_scan_close(f->server.redis, f->space, blocks, 2, 1, looks,
				&f->err);
}

static void a_close_takes_three_numbers_a_block(void **state)
{
	static const struct {
		const char *answer;
		enum error_code code;
	} cases[] = {
		{"{0, 0, 1, 0, 0}", ERROR_PROTOCOL},
		{"{0, 0, 1, 0, 0, 1, 0}", ERROR_PROTOCOL},
		{"{0, 0, 1, 0, 0, '1'}", ERROR_PROTOCOL},
		{"{0, 0, 1, 3, 0, 1}", ERROR_PROTOCOL},
		{"{-1, 0, 1, 0, 0, 1}", ERROR_PROTOCOL},
		{"{}", ERROR_PROTOCOL},
		{"'text'", ERROR_PROTOCOL},
		{"{err = 'ERR no'}", ERROR_REMOTE},
		{"{err = 'DAMAGED it'}", ERROR_UNSAFE},
	};
	struct fixture *f = *state;
	struct block_scan looks[2];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		fails_when(f, "EVALSHA", cases[i].answer, close_two(f, looks),
			   cases[i].code);
	must(f, close_two(f, looks));
	assert_int_equal(looks[0].state, BLOCK_LOST);
}

static void each_number_of_a_close_is_of_its_block(void **state)
{
	struct fixture *f = *state;
	struct block_scan looks[2];

	answer_with("EVALSHA", 0, "{1, -1, 4, 2, 99, 5}");
	must(f, close_two(f, looks));
	assert_int_equal(looks[0].state, BLOCK_ENDED);
	assert_int_equal(looks[0].end, DURATION_NEVER);
	assert_int_equal(looks[0].generation, 4);
	assert_int_equal(looks[1].state, BLOCK_LIVE);
	assert_int_equal(looks[1].end, 99);
	assert_int_equal(looks[1].generation, 5);
}

/* --- new links ------------------------------------------------------------ */

static int create_link(struct fixture *f, const struct link_block *b,
		       int64_t *ret_expires)
{
	Shortloop__Link link = empty_link();
	struct link_target t;

	linkstore_code(f->space, b->number, 7, &t);
	must(f, link_prepare(b, 7, &link, &f->err));
	return await_create(f->await, b, t.code, &link, 0, ret_expires,
			    &f->err);
}

static void a_new_link_is_stored_only_if_redis_says_so(void **state)
{
	static const struct {
		const char *answer;
		enum error_code code;
	} cases[] = {
		{"'text'", ERROR_PROTOCOL}, {"{}", ERROR_PROTOCOL},
		{"{99}", ERROR_PROTOCOL},   {"{0}", ERROR_PROTOCOL},
		{"{-1}", ERROR_NOT_OWNER},  {"{-2}", ERROR_NOT_OWNER},
		{"{99, 0}", ERROR_UNSAFE},  {"{99, -1}", ERROR_LATE},
	};
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	int64_t expires;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		fails_when(f, "EVALSHA", cases[i].answer,
			   create_link(f, &b, &expires), cases[i].code);
	answer_with("EVALSHA", 0, "{99, 1}");
	must(f, create_link(f, &b, &expires));
	assert_int_equal(expires, 99);
	answer_with("EVALSHA", 0, "{0, 1}");
	must(f, create_link(f, &b, &expires));
	assert_int_equal(expires, DURATION_NEVER);
}

/* The errors distinguish a marker that is gone from one of another holder. */
static void a_block_that_is_not_ours_is_told_with_its_reason(void **state)
{
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	int64_t expires;

	fails_when(f, "EVALSHA", "{-1}", create_link(f, &b, &expires),
		   ERROR_NOT_OWNER);
	assert_non_null(strstr(f->err.text, "is gone"));
	fails_when(f, "EVALSHA", "{-2}", create_link(f, &b, &expires),
		   ERROR_NOT_OWNER);
	assert_non_null(strstr(f->err.text, "another's or closed"));
}

/* --- edits ---------------------------------------------------------------- */

static void an_edit_is_done_only_if_redis_says_so(void **state)
{
	static const struct {
		const char *answer;
		enum error_code code;
	} cases[] = {
		{"'text'", ERROR_PROTOCOL},
		{"{}", ERROR_PROTOCOL},
		{"{1}", ERROR_PROTOCOL},
		{"{2, 9}", ERROR_PROTOCOL},
		{"{-2, 9}", ERROR_PROTOCOL},
		{"{'what', 9}", ERROR_PROTOCOL},
		{"{1, 'what'}", ERROR_PROTOCOL},
		{"{0, 0}", ERROR_NOTFOUND},
		{"{-1, 0}", ERROR_CONFLICT},
	};
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	struct link_target t = store_link(f, &b, 0);
	struct link_answer read = read_link(f, &t);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		fails_when(f, "EVALSHA", cases[i].answer,
			   try_delete(f, &t, &read), cases[i].code);
	must(f, try_delete(f, &t, &read));
	await_release(&read.link);
}

/* --- the walk through all links ------------------------------------------- */

static void count_finding(void *arg, const struct link_finding *finding)
{
	(void)finding;
	++*(unsigned *)arg;
}

static bool go_on(void *arg, uint64_t links, uint64_t keys, uint64_t total)
{
	(void)arg;
	(void)links;
	(void)keys;
	(void)total;
	return false;
}

static int check_links(struct fixture *f, unsigned *ret_found)
{
	struct link_check check = {
		.redis = f->server.redis,
		.space = f->space,
		.found = count_finding,
		.pause = go_on,
		.arg = ret_found,
	};

	*ret_found = 0;
	return link_check_run(&check, &f->err);
}

static void a_page_of_keys_is_a_cursor_and_a_list(void **state)
{
	static const char *const answers[] = {"'text'", "{}", "{'0'}",
					      "{'0', 'text'}"};
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	unsigned found;

	store_link(f, &b, 0);
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++)
		fails_when(f, "SCAN", answers[i], check_links(f, &found),
			   ERROR_PROTOCOL);
	must(f, check_links(f, &found));
	assert_int_equal(found, 0);
}

static void a_second_look_at_a_link_has_five_values(void **state)
{
	static const char *const answers[] = {"'text'", "{}",
					      "{99, '', '', 0}"};
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	unsigned found;

	store_link(f, &b, 0);
	set_marker(f, "2 o 1d 1 never h");
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		fails_when(f, "EVALSHA", answers[i], check_links(f, &found),
			   ERROR_PROTOCOL);
		assert_int_equal(found, 0);
	}
	must(f, check_links(f, &found));
	assert_int_equal(found, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_look_up_takes_a_record_and_a_marker_only),
		TEST(a_look_up_fails_with_the_life_of_its_link),
		TEST(a_look_up_that_is_half_sent_is_refused_once),
		TEST(what_is_left_of_a_life_is_told),
		TEST(a_look_takes_one_value_a_marker),
		TEST(the_first_marker_that_is_damaged_is_told),
		TEST(a_failed_look_leaves_nothing_behind),
		TEST(a_close_takes_three_numbers_a_block),
		TEST(each_number_of_a_close_is_of_its_block),
		TEST(a_new_link_is_stored_only_if_redis_says_so),
		TEST(a_block_that_is_not_ours_is_told_with_its_reason),
		TEST(an_edit_is_done_only_if_redis_says_so),
		TEST(a_page_of_keys_is_a_cursor_and_a_list),
		TEST(a_second_look_at_a_link_has_five_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
