/* The record of blocks that became issued when Redis forgot. */
#include "tests/unit/linkstore/fixture.h"

#include <string.h>

#include "linkstore/space/space_gaps.h"

static int read_gaps(struct fixture *f, struct space_gaps **ret)
{
	return space_gaps_read(f->server.redis, f->space, ret, &f->err);
}

static void put_record(struct fixture *f, const char *field, const char *text)
{
	const char *words[] = {"HSET", "space:{s5}", field, text};
	redisReply *reply;

	must(f,
	     redis_command(f->server.redis, 4, words, NULL, &reply, &f->err));
	assert_int_equal(reply->type, REDIS_REPLY_INTEGER);
	freeReplyObject(reply);
}

static void a_space_that_forgot_nothing_has_none(void **state)
{
	struct fixture *f = *state;
	struct space_gaps *gaps;

	must(f, read_gaps(f, &gaps));
	assert_false(space_gaps_has(gaps, 0, 1));
	space_gaps_free(gaps);
	space_gaps_free(NULL);
}

static void ranges_are_found_whatever_their_order(void **state)
{
	struct fixture *f = *state;
	struct space_gaps *gaps;

	put_record(f, "gaps", "900-999 5-6 10-10 ");
	put_record(f, "set_aside", "7-9:3 5-6:2 0-4:3 20-29:3 ");
	must(f, read_gaps(f, &gaps));
	for (uint64_t block = 0; block < 1100; block++) {
		assert_int_equal(space_gaps_has(gaps, block, 1),
				 (block >= 5 && block <= 6) || block == 10 ||
					 (block >= 900 && block <= 999));
		assert_int_equal(space_gaps_has(gaps, block, 2),
				 block >= 5 && block <= 6);
		assert_int_equal(space_gaps_has(gaps, block, 3),
				 block <= 4 || (block >= 7 && block <= 9) ||
					 (block >= 20 && block <= 29));
		assert_false(space_gaps_has(gaps, block, 4));
	}
	space_gaps_free(gaps);
}

/* A range within another must not hide the ranges after it. */
static void ranges_that_overlap_are_found(void **state)
{
	struct fixture *f = *state;
	struct space_gaps *gaps;

	put_record(f, "set_aside", "10-90:2 20-30:2 85-120:2 ");
	must(f, read_gaps(f, &gaps));
	for (uint64_t block = 0; block < 200; block++)
		assert_int_equal(space_gaps_has(gaps, block, 2),
				 block >= 10 && block <= 120);
	space_gaps_free(gaps);
}

static void numbers_are_found_to_the_end_of_the_space(void **state)
{
	struct fixture *f = *state;
	const uint64_t far = UINT64_C(1) << 53;
	struct space_gaps *gaps;

	put_record(f, "gaps", "9007199254740991-9007199254740993 ");
	must(f, read_gaps(f, &gaps));
	assert_false(space_gaps_has(gaps, far - 2, 1));
	assert_true(space_gaps_has(gaps, far - 1, 1));
	assert_true(space_gaps_has(gaps, far + 1, 1));
	assert_false(space_gaps_has(gaps, far + 2, 1));
	space_gaps_free(gaps);
}

/* Unread ranges would count as blocks that were never granted. */
static void a_record_that_cannot_be_understood_is_refused(void **state)
{
	static const char *const bad[] = {
		"x",	 "5",	     "5-",	 "5-6:",  "5-6:x",
		"6-5 ",	 "0-4 5_6",  "5-6,7-8",	 "-1-5 ", "5-6:4294967296",
		"05-6 ", "1-2\n3-4", "5-6:1:1 ", ":",
	};
	struct fixture *f = *state;
	struct space_gaps *gaps;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put_record(f, "gaps", bad[i]);
		must_fail(f, read_gaps(f, &gaps), ERROR_UNSAFE);
		put_record(f, "gaps", "1-2 ");
		put_record(f, "set_aside", bad[i]);
		must_fail(f, read_gaps(f, &gaps), ERROR_UNSAFE);
		put_record(f, "set_aside", "");
	}
	put_record(f, "gaps", "0-191 5_6 ");
	must_fail(f, read_gaps(f, &gaps), ERROR_UNSAFE);
	assert_non_null(strstr(f->err.text, "'5_6'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_space_that_forgot_nothing_has_none),
		TEST(ranges_are_found_whatever_their_order),
		TEST(ranges_that_overlap_are_found),
		TEST(numbers_are_found_to_the_end_of_the_space),
		TEST(a_record_that_cannot_be_understood_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
