/* Which days have to be settled, compared with the published state of their
 * hours, and which are held back. */
#include "tests/unit/aggregator/progress_rows.h"

/* A time in ms, after the day that begins at START. */
#define CLOSED ((START + DAY) * CLOCK_SECOND)

static void ask_stale(struct settled *t, int64_t closed_before_ms,
		      int64_t not_since_ms, bool held)
{
	const struct days_due due = {.closed_before = closed_before_ms,
				     .not_since = not_since_ms,
				     .corrected_since = PROGRESS_LAST};
	struct error err = {0};

	stale_list_release(&t->list);
	if (progress_stale_days(t->s.ch, &due, held, &t->list, &err) < 0)
		fail_msg("%s", err.text);
}

static bool is_stale(struct settled *t, int64_t day)
{
	ask_stale(t, INT64_MAX, settling_now(&t->s), false);
	return find_stale(t, day) != NULL;
}

static void publish_day(struct settled *t, uint64_t attempt, uint64_t blocks,
			uint64_t rows)
{
	publish_attempt(t, (struct published){"link_day", START, attempt,
					      blocks, rows, false, 0});
}

/* Publishes hours with three blocks and twelve rows in all. */
static void publish_hours(struct settled *t)
{
	publish_hour(t, HOUR_OF(3), 5, 2, 8);
	publish_hour(t, HOUR_OF(4), 6, 1, 4);
}

static void a_day_is_stale_while_its_hours_are_of_other_blocks(void **state)
{
	static const struct {
		uint64_t blocks, rows;
		bool stale;
	} cases[] = {{3, 12, false},
		     {2, 12, true},
		     {4, 12, true},
		     {3, 11, true},
		     {3, 13, true}};
	struct settled *t = *state;
	const struct stale *day;

	publish_hours(t);
	/* An older attempt of an hour, and an hour of another day, do not
	 * count. */
	publish_hour(t, HOUR_OF(4), 4, 9, 99);
	publish_hour(t, HOUR_OF(24), 5, 9, 99);
	assert_true(is_stale(t, START));
	day = find_stale(t, START);
	assert_int_equal(t->list.count, 2);
	assert_int_equal(t->list.items[0].start, START);
	assert_int_equal(day->blocks, 3);
	assert_int_equal(day->rows, 12);
	assert_false(day->was);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		publish_day(t, 7 + i, cases[i].blocks, cases[i].rows);
		assert_int_equal(is_stale(t, START), cases[i].stale);
		day = find_stale(t, START);
		if (!day)
			continue;
		assert_int_equal(day->was_attempt, 7 + i);
		assert_int_equal(day->was_rows, cases[i].rows);
	}
	publish_day(t, 99, 3, 12);
	publish_day(t, 98, 9, 99);
	assert_false(is_stale(t, START));
}

/* A rescore publishes an hour again from the same blocks. */
static void a_day_is_stale_when_an_hour_was_published_after_it(void **state)
{
	struct settled *t = *state;

	publish_hours(t);
	publish_day(t, 6, 3, 12);
	assert_false(is_stale(t, START));
	publish_hour(t, HOUR_OF(4), 7, 1, 4);
	assert_true(is_stale(t, START));
}

static void a_day_is_settled_once_it_is_closed(void **state)
{
	struct settled *t = *state;

	publish_hours(t);
	ask_stale(t, CLOSED - 1, INT64_MAX, false);
	assert_int_equal(t->list.count, 0);
	ask_stale(t, CLOSED, INT64_MAX, false);
	assert_int_equal(t->list.count, 1);
}

static void a_day_is_not_settled_again_so_soon(void **state)
{
	struct settled *t = *state;
	int64_t now = settling_now(&t->s);

	publish_hours(t);
	publish_attempt(t, (struct published){"link_day", START, 7, 1, 1, false,
					      now - 1000});
	ask_stale(t, CLOSED, now - 1001, false);
	assert_int_equal(t->list.count, 0);
	ask_stale(t, CLOSED, now - 1000, false);
	assert_int_equal(t->list.count, 1);
	/* A time that was written by a clock that was ahead delays nothing. */
	publish_attempt(t, (struct published){"link_day", START, 8, 1, 1, false,
					      now + CLOCK_DAY});
	ask_stale(t, CLOSED, now - 1001, false);
	assert_int_equal(t->list.count, 1);
}

static void hold_day(struct settled *t, uint64_t attempt, uint64_t blocks,
		     uint64_t rows)
{
	publish_attempt(t, (struct published){"held_day", START, attempt,
					      blocks, rows, false, 0});
}

static void a_day_that_is_held_back_waits_until_it_changes(void **state)
{
	struct settled *t = *state;

	publish_hours(t);
	publish_day(t, 7, 3, 13);
	hold_day(t, 8, 3, 12);
	assert_false(is_stale(t, START));
	ask_stale(t, CLOSED, INT64_MAX, true);
	assert_int_equal(t->list.count, 1);
	hold_day(t, 9, 2, 12); /* from other blocks */
	assert_true(is_stale(t, START));
	hold_day(t, 10, 3, 11); /* from other rows */
	assert_true(is_stale(t, START));
	hold_day(t, 11, 3, 12);
	assert_false(is_stale(t, START));
	publish_day(t, 11, 3, 13); /* published since */
	assert_true(is_stale(t, START));
}

/* The base of the day has all hours that were published before the drop. */
static void of_a_dropped_day_hours_count_that_were_settled_since(void **state)
{
	struct settled *t = *state;

	publish_hours(t);
	publish_day(t, 7, 3, 12);
	settled_drop(t, START, 8);
	assert_false(is_stale(t, START));
	publish_hour(t, HOUR_OF(4), 8, 1, 2);
	assert_true(is_stale(t, START));
	assert_int_equal(find_stale(t, START)->blocks, 1);
	assert_int_equal(find_stale(t, START)->rows, 2);
	assert_int_equal(find_stale(t, START)->was_rows, 0);
	assert_int_equal(find_stale(t, START)->dropped, 8);
	publish_day(t, 8, 1, 2);
	assert_false(is_stale(t, START));
}

static void days_of_a_range_are_those_that_it_touches(void **state)
{
	struct settled *t = *state;
	struct error err = {0};

	for (int i = 0; i < 4; i++)
		publish_hour(t, HOUR_OF(24 * i + 5), 5, 1, 1);
	assert_int_equal(progress_days_of(t->s.ch, START + DAY,
					  START + 3 * (int64_t)DAY, &t->list,
					  &err),
			 0);
	assert_int_equal(t->list.count, 2);
	assert_int_equal(t->list.items[0].start, START + DAY);
	stale_list_release(&t->list);
	assert_int_equal(progress_days_of(t->s.ch, START + DAY - 1,
					  START + 3 * (int64_t)DAY + 1,
					  &t->list, &err),
			 0);
	assert_int_equal(t->list.count, 4);
}

/* --- held back ------------------------------------------------------------ */

static struct held_back ask_held_back(struct settled *t)
{
	struct held_back held;
	struct error err = {0};

	if (progress_held_back(t->s.ch, &held, &err) < 0)
		fail_msg("%s", err.text);
	return held;
}

static void hold_hour(struct settled *t, int64_t hour, uint64_t attempt,
		      uint64_t blocks, uint64_t rows)
{
	publish_attempt(t, (struct published){"held_hour", hour, attempt,
					      blocks, rows, false, 0});
}

static void hours_and_days_that_are_held_back_are_counted(void **state)
{
	struct settled *t = *state;
	struct held_back held = ask_held_back(t);

	assert_int_equal(held.hours, 0);
	assert_int_equal(held.days, 0);
	assert_int_equal(held.first, 0);
	publish_hours(t);
	publish_day(t, 7, 3, 13);
	hold_hour(t, HOUR_OF(3), 8, 1, 7);
	hold_hour(t, HOUR_OF(4), 8, 1, 3);
	hold_hour(t, HOUR_OF(5), 8, 1, 3); /* never published */
	hold_day(t, 8, 3, 12);
	held = ask_held_back(t);
	assert_int_equal(held.hours, 3);
	assert_int_equal(held.days, 1);
	assert_int_equal(held.first, START);
}

/* The day and its first hour begin at the same time. */
static void an_hour_is_not_taken_for_its_day(void **state)
{
	struct settled *t = *state;

	publish_hour(t, HOUR_OF(0), 9, 5, 5);
	publish_day(t, 9, 7, 7);
	hold_hour(t, HOUR_OF(0), 8, 1, 7);
	hold_day(t, 10, 1, 7);
	assert_int_equal(ask_held_back(t).hours, 0);
	assert_int_equal(ask_held_back(t).days, 1);
}

static void what_was_published_since_is_not_held_back(void **state)
{
	struct settled *t = *state;

	publish_hour(t, HOUR_OF(3), 8, 1, 9);
	hold_hour(t, HOUR_OF(3), 8, 1, 7); /* at the same number */
	assert_int_equal(ask_held_back(t).hours, 0);
	hold_hour(t, HOUR_OF(3), 9, 1, 7);
	assert_int_equal(ask_held_back(t).hours, 1);
	/* The hour is held back with the same blocks and rows that it is
	 * published from. */
	hold_hour(t, HOUR_OF(3), 10, 1, 9);
	assert_int_equal(ask_held_back(t).hours, 0);
	hold_hour(t, HOUR_OF(3), 11, 2, 9);
	assert_int_equal(ask_held_back(t).hours, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SETTLED_TEST(
			a_day_is_stale_while_its_hours_are_of_other_blocks),
		SETTLED_TEST(
			a_day_is_stale_when_an_hour_was_published_after_it),
		SETTLED_TEST(a_day_is_settled_once_it_is_closed),
		SETTLED_TEST(a_day_is_not_settled_again_so_soon),
		SETTLED_TEST(a_day_that_is_held_back_waits_until_it_changes),
		SETTLED_TEST(
			of_a_dropped_day_hours_count_that_were_settled_since),
		SETTLED_TEST(days_of_a_range_are_those_that_it_touches),
		SETTLED_TEST(hours_and_days_that_are_held_back_are_counted),
		SETTLED_TEST(an_hour_is_not_taken_for_its_day),
		SETTLED_TEST(what_was_published_since_is_not_held_back),
	};

	return cmocka_run_group_tests(tests, settled_open, settled_close);
}
