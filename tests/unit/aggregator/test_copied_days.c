#include "tests/unit/unit.h"

#include "aggregator/settle/copied_days.h"

#define DAY INT64_C(86400)

/* Returns the days with these numbers since 1970; `of` has room for them. */
static struct copied_days days_of(struct copied_day *of, size_t count,
				  const int64_t *numbers)
{
	for (size_t i = 0; i < count; i++)
		of[i] = (struct copied_day){.start = numbers[i] * DAY,
					    .attempt = 7 + i};
	return (struct copied_days){.items = of, .count = count};
}

static void whole_days_of_the_range_are_left(void **state)
{
	static const int64_t numbers[] = {1, 2, 3, 4, 5};
	struct copied_day items[5];
	struct copied_days days = days_of(items, 5, numbers);

	(void)state;
	assert_false(copied_days_keep_whole(&days, 2 * DAY - 900, 5 * DAY, 0));
	assert_int_equal(days.count, 3);
	assert_int_equal(days.items[0].start, 2 * DAY);
	assert_int_equal(days.items[2].start, 4 * DAY);
	assert_false(copied_days_keep_whole(&days, 0, 9 * DAY, 3 * DAY + 1));
	assert_int_equal(days.count, 2);
	assert_int_equal(days.items[1].attempt, 10);
}

static void
one_that_was_dropped_is_told_if_a_part_of_it_is_in_the_range(void **state)
{
	static const int64_t numbers[] = {1, 2};
	struct copied_day items[2];
	struct copied_days days = days_of(items, 2, numbers);

	(void)state;
	items[0].dropped = true;
	assert_false(copied_days_keep_whole(&days, 2 * DAY, 3 * DAY, 0));
	assert_int_equal(days.count, 1);
	days = days_of(items, 2, numbers);
	items[0].dropped = true;
	assert_true(copied_days_keep_whole(&days, 2 * DAY - 900, 3 * DAY, 0));
	days = days_of(items, 2, numbers);
	items[0].dropped = true;
	assert_true(copied_days_keep_whole(&days, DAY, 3 * DAY, DAY + 900));
	days = days_of(items, 2, numbers);
	items[0].dropped = true;
	assert_false(copied_days_keep_whole(&days, DAY, 3 * DAY, DAY));
	assert_int_equal(days.count, 2);
}

static void common_days_are_left(void **state)
{
	static const int64_t some[] = {1, 3, 4, 9}, others[] = {0, 3, 9, 10};
	struct copied_day items[4], other_items[4];
	struct copied_days days = days_of(items, 4, some);
	struct copied_days other = days_of(other_items, 4, others);
	const struct copied_days none = {0};

	(void)state;
	copied_days_keep_common(&days, &other);
	assert_int_equal(days.count, 2);
	assert_int_equal(days.items[0].start, 3 * DAY);
	assert_int_equal(days.items[0].attempt, 8);
	assert_int_equal(days.items[1].start, 9 * DAY);
	copied_days_keep_common(&days, &none);
	assert_int_equal(days.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_days_of_the_range_are_left),
		cmocka_unit_test(
			one_that_was_dropped_is_told_if_a_part_of_it_is_in_the_range),
		cmocka_unit_test(common_days_are_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
