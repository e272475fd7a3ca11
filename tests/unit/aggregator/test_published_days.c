#include "tests/unit/aggregator/progress_rows.h"
#include "tests/unit/unit.h"

#include "aggregator/api/published_days.h"

#define MS INT64_C(1000)

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

/* Reads the day that begins at START, which is over. */
static struct published_day read_day(struct settled *t)
{
	const struct days_reading reading = {
		.last = {.complete_until = (START + DAY) * MS},
		.now = (START + DAY) * MS};
	struct published_days days;
	struct published_day day;
	struct error err = {0};

	if (published_days_read(t->s.ch, START, START + DAY, &reading, &days,
				&err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(days.count, 1);
	day = days.items[0];
	published_days_release(&days);
	return day;
}

static void publish_day(struct settled *t, uint64_t attempt, uint64_t blocks,
			uint64_t rows)
{
	publish_attempt(t, (struct published){"link_day", START, attempt,
					      blocks, rows, false, 0});
}

/* An hour can be settled again from the same blocks, as by an operator. */
static void a_day_is_complete_until_an_hour_is_settled_after_it(void **state)
{
	struct settled *t = *state;

	report_block(t, HOUR_OF(3), 0, 6, 7);
	publish_hour(t, HOUR_OF(3), 5, 1, 7);
	publish_day(t, 6, 1, 7);
	assert_true(read_day(t).complete);
	assert_false(read_day(t).waiting);
	publish_hour(t, HOUR_OF(3), 7, 1, 7);
	assert_false(read_day(t).complete);
	assert_true(read_day(t).waiting);
	publish_day(t, 8, 1, 7);
	assert_true(read_day(t).complete);
}

static void
a_day_that_was_settled_from_other_blocks_than_its_hours_waits(void **state)
{
	struct settled *t = *state;

	report_block(t, HOUR_OF(3), 0, 6, 7);
	publish_hour(t, HOUR_OF(3), 5, 1, 7);
	publish_day(t, 6, 1, 6);
	assert_false(read_day(t).complete);
	assert_true(read_day(t).waiting);
	publish_attempt(
		t, (struct published){"held_day", START, 7, 1, 7, false, 0});
	assert_false(read_day(t).complete);
	assert_false(read_day(t).waiting);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			counts_are_complete_up_to_the_first_day_that_is_not),
		cmocka_unit_test(
			days_are_settled_up_to_the_last_that_is_published),
		cmocka_unit_test(without_days_the_watermark_alone_tells),
		SETTLED_TEST(
			a_day_is_complete_until_an_hour_is_settled_after_it),
		SETTLED_TEST(
			a_day_that_was_settled_from_other_blocks_than_its_hours_waits),
	};

	return cmocka_run_group_tests(tests, settled_open, settled_close);
}
