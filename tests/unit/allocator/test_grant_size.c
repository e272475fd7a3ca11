/* How many blocks are requested, and when. */
#include "tests/unit/unit.h"

#include "allocator/block_pool/grant_size.h"

#define HUGE_SPACE (UINT64_C(1) << 40) /* blocks */
#define ASKED	   INT64_C(5000000)

static size_t next_block_count(size_t last_blocks, int64_t age, size_t least)
{
	const struct last_grant last = {
		.blocks = last_blocks, .asked_at = ASKED, .succeeded = true};

	return grant_size_next(&last, ASKED + age, least, HUGE_SPACE);
}

static void the_first_grant_is_of_grant_blocks(void **state)
{
	const struct last_grant none = {.blocks = 0};

	(void)state;
	assert_int_equal(grant_size_next(&none, ASKED, 4, HUGE_SPACE), 4);
	assert_int_equal(grant_size_next(&none, 0, 1, HUGE_SPACE), 1);
}

static void a_grant_used_up_within_a_second_doubles(void **state)
{
	(void)state;
	assert_int_equal(next_block_count(4, 0, 4), 8);
	assert_int_equal(next_block_count(8, 999, 4), 16);
	assert_int_equal(next_block_count(8, 1000, 4), 8);
}

static void a_grant_that_lasts_half_a_minute_halves(void **state)
{
	(void)state;
	assert_int_equal(next_block_count(8, 30000, 1), 8);
	assert_int_equal(next_block_count(8, 30001, 1), 4);
	assert_int_equal(next_block_count(8, 30001, 6), 6);
}

static void grants_stop_growing_at_64_blocks(void **state)
{
	size_t blocks = 1;

	(void)state;
	for (int i = 0; i < 20; i++)
		blocks = next_block_count(blocks, 0, 1);
	assert_int_equal(blocks, 64);
	assert_int_equal(next_block_count(33, 0, 1), 64);
}

static void a_grant_takes_a_1024th_of_its_space_at_most(void **state)
{
	const struct last_grant last = {
		.blocks = 32, .asked_at = ASKED, .succeeded = true};

	(void)state;
	assert_int_equal(grant_size_next(&last, ASKED, 1, 40 * 1024), 40);
	assert_int_equal(grant_size_next(&last, ASKED, 1, 40 * 1024 - 1), 39);
	assert_int_equal(grant_size_next(&last, ASKED, 1, 64 * 1024), 64);
	assert_int_equal(grant_size_next(&last, ASKED, 1, 100), 1);
}

/* A higher setting of the operator takes precedence. */
static void grant_blocks_is_the_least_whatever_the_bounds(void **state)
{
	const struct last_grant last = {
		.blocks = 100, .asked_at = ASKED, .succeeded = true};

	(void)state;
	assert_int_equal(next_block_count(100, 0, 100), 100);
	assert_int_equal(grant_size_next(&last, ASKED, 100, 2048), 100);
}

static void a_grant_that_failed_says_nothing_of_how_long_one_lasts(void **state)
{
	const struct last_grant failed = {.blocks = 8, .asked_at = ASKED};

	(void)state;
	assert_int_equal(grant_size_next(&failed, ASKED, 1, HUGE_SPACE), 8);
	assert_int_equal(grant_size_next(&failed, ASKED + 99999, 1, HUGE_SPACE),
			 8);
}

static void a_grant_is_due_at_the_last_fifth_of_codes(void **state)
{
	const struct last_grant last = {.blocks = 2, .renew_at = ASKED};

	(void)state;
	assert_false(grant_is_due(&last, 401, 1000, 0));
	assert_true(grant_is_due(&last, 400, 1000, 0));
	assert_true(grant_is_due(&last, 0, 1000, 0));
}

static void a_grant_is_due_at_the_last_fifth_of_time(void **state)
{
	const struct last_grant last = {.blocks = 2, .renew_at = ASKED};

	(void)state;
	assert_false(grant_is_due(&last, 2000, 1000, ASKED - 1));
	assert_true(grant_is_due(&last, 2000, 1000, ASKED));
}

/* 64 blocks of 2^26 codes are 2^32. */
static void the_largest_blocks_do_not_overflow(void **state)
{
	const struct last_grant last = {.blocks = 64, .renew_at = ASKED};

	(void)state;
	assert_true(grant_is_due(&last, 800000000, UINT32_C(1) << 26, 0));
	assert_false(grant_is_due(&last, 900000000, UINT32_C(1) << 26, 0));
}

static void the_first_grant_is_due_at_once(void **state)
{
	const struct last_grant none = {.renew_at = ASKED};

	(void)state;
	assert_true(grant_is_due(&none, 0, 1000, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_grant_is_of_grant_blocks),
		cmocka_unit_test(a_grant_used_up_within_a_second_doubles),
		cmocka_unit_test(a_grant_that_lasts_half_a_minute_halves),
		cmocka_unit_test(grants_stop_growing_at_64_blocks),
		cmocka_unit_test(a_grant_takes_a_1024th_of_its_space_at_most),
		cmocka_unit_test(grant_blocks_is_the_least_whatever_the_bounds),
		cmocka_unit_test(
			a_grant_that_failed_says_nothing_of_how_long_one_lasts),
		cmocka_unit_test(a_grant_is_due_at_the_last_fifth_of_codes),
		cmocka_unit_test(a_grant_is_due_at_the_last_fifth_of_time),
		cmocka_unit_test(the_largest_blocks_do_not_overflow),
		cmocka_unit_test(the_first_grant_is_due_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
