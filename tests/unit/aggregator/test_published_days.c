#include "tests/unit/unit.h"

#include "aggregator/api/published_days.h"

#define DAY INT64_C(86400)
#define MS  INT64_C(1000)

static struct published_days make_published_days(struct published_day *items,
						 size_t count)
{
	return (struct published_days){items, count};
}

static void counts_are_complete_up_to_the_first_day_that_is_not(void **state)
{
	struct published_day items[] = {{10 * DAY, 5, true, false},
					{12 * DAY, 6, false, false},
					{13 * DAY, 7, true, false}};
	struct published_days days = make_published_days(items, 3);
	struct progress last = {.complete_until = (14 * DAY + 7) * MS};

	(void)state;
	assert_int_equal(published_days_complete_until(&days, 10 * DAY, &last),
			 12 * DAY * MS);
	assert_int_equal(published_days_complete_until(&days, 12 * DAY, &last),
			 12 * DAY * MS);
	/* Days before the range do not count. */
	assert_int_equal(published_days_complete_until(&days, 13 * DAY, &last),
			 14 * DAY * MS);
	items[1].complete = true;
	assert_int_equal(published_days_complete_until(&days, 10 * DAY, &last),
			 14 * DAY * MS);
	last.complete_until = 0;
	assert_int_equal(published_days_complete_until(&days, 10 * DAY, &last),
			 0);
}

static void days_are_settled_up_to_the_last_that_is_published(void **state)
{
	struct published_day items[] = {{10 * DAY, 0, false, false},
					{12 * DAY, 6, true, false},
					{15 * DAY, 0, false, false}};
	struct published_days days = make_published_days(items, 3);
	struct progress last = {.complete_until = 0};

	(void)state;
	assert_int_equal(
		published_days_settled_until(&days, 9 * DAY, 20 * DAY, &last),
		13 * DAY);
	/* The watermark guarantees that no click comes for the days before it.
	 */
	last.complete_until = (14 * DAY + 7) * MS;
	assert_int_equal(
		published_days_settled_until(&days, 9 * DAY, 20 * DAY, &last),
		14 * DAY);
	last.complete_until = 30 * DAY * MS;
	assert_int_equal(
		published_days_settled_until(&days, 9 * DAY, 20 * DAY, &last),
		15 * DAY);
	days.count = 2;
	assert_int_equal(
		published_days_settled_until(&days, 9 * DAY, 20 * DAY, &last),
		20 * DAY);
}

static void without_days_the_watermark_alone_tells(void **state)
{
	struct published_days none = make_published_days(NULL, 0);
	struct progress last = {.complete_until = 0};

	(void)state;
	assert_int_equal(
		published_days_settled_until(&none, 9 * DAY, 20 * DAY, &last),
		9 * DAY);
	last.complete_until = 12 * DAY * MS;
	assert_int_equal(
		published_days_settled_until(&none, 9 * DAY, 20 * DAY, &last),
		12 * DAY);
	assert_int_equal(published_days_complete_until(&none, 9 * DAY, &last),
			 12 * DAY * MS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			counts_are_complete_up_to_the_first_day_that_is_not),
		cmocka_unit_test(
			days_are_settled_up_to_the_last_that_is_published),
		cmocka_unit_test(without_days_the_watermark_alone_tells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
