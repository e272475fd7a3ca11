#include "tests/unit/unit.h"

#include "common/bar.h"

static void the_time_left_follows_from_the_pace(void **state)
{
	(void)state;
	assert_int_equal(bar_seconds_left(100, 400, 1000), 3);
	assert_int_equal(bar_seconds_left(1, 4700001, 1), 4700);
}

static void nothing_is_foretold_before_the_first_block(void **state)
{
	(void)state;
	assert_int_equal(bar_seconds_left(0, 400, 1000), -1);
	assert_int_equal(bar_seconds_left(4, 400, 0), -1);
}

static void a_run_that_finds_more_than_was_due_has_no_time_left(void **state)
{
	(void)state;
	assert_int_equal(bar_seconds_left(401, 400, 1000), 0);
	assert_int_equal(bar_seconds_left(400, 400, 1000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_time_left_follows_from_the_pace),
		cmocka_unit_test(nothing_is_foretold_before_the_first_block),
		cmocka_unit_test(
			a_run_that_finds_more_than_was_due_has_no_time_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
