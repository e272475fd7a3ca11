/* Which days are to be settled, by what their hours are published from, and
 * what is held back. */
#include "tests/unit/aggregator/progress_world.h"

/* A time after the day that begins at START, ms. */
#define CLOSED ((START + DAY) * CLOCK_SECOND)

static void ask_stale(struct progress_world *w, int64_t closed_before_ms,
		      int64_t not_since_ms, bool held)
{
	struct error err = {0};

	stale_list_release(&w->list);
	if (progress_stale_days(w->server.ch, closed_before_ms, not_since_ms,
				held, &w->list, &err) < 0)
		fail_msg("%s", err.text);
}

static bool is_stale(struct progress_world *w, int64_t day)
{
	ask_stale(w, INT64_MAX, progress_world_now(w), false);
	return find_stale(w, day) != NULL;
}

static void publish_day(struct progress_world *w, uint64_t attempt,
			uint64_t blocks, uint64_t rows)
{
	publish(w, (struct published){"link_day", START, attempt, blocks, rows,
				      false, 0});
}

/* Of three blocks and twelve rows. */
static void publish_hours(struct progress_world *w)
{
	publish_hour(w, HOUR_OF(3), 5, 2, 8);
	publish_hour(w, HOUR_OF(4), 6, 1, 4);
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
	struct progress_world *w = *state;
	const struct stale *day;

	publish_hours(w);
	/* An older number of an hour, and another day's. */
	publish_hour(w, HOUR_OF(4), 4, 9, 99);
	publish_hour(w, HOUR_OF(24), 5, 9, 99);
	assert_true(is_stale(w, START));
	day = find_stale(w, START);
	assert_int_equal(w->list.count, 2);
	assert_int_equal(w->list.items[0].start, START);
	assert_int_equal(day->blocks, 3);
	assert_int_equal(day->rows, 12);
	assert_false(day->was);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		publish_day(w, 7 + i, cases[i].blocks, cases[i].rows);
		assert_int_equal(is_stale(w, START), cases[i].stale);
		day = find_stale(w, START);
		if (!day)
			continue;
		assert_int_equal(day->was_attempt, 7 + i);
		assert_int_equal(day->was_rows, cases[i].rows);
	}
	publish_day(w, 99, 3, 12);
	publish_day(w, 98, 9, 99);
	assert_false(is_stale(w, START));
}

/* From the same blocks: a rescore, or another time. */
static void a_day_is_stale_when_an_hour_was_published_after_it(void **state)
{
	struct progress_world *w = *state;

	publish_hours(w);
	publish_day(w, 6, 3, 12);
	assert_false(is_stale(w, START));
	publish_hour(w, HOUR_OF(4), 7, 1, 4);
	assert_true(is_stale(w, START));
}

static void a_day_is_settled_once_it_is_closed(void **state)
{
	struct progress_world *w = *state;

	publish_hours(w);
	ask_stale(w, CLOSED - 1, INT64_MAX, false);
	assert_int_equal(w->list.count, 0);
	ask_stale(w, CLOSED, INT64_MAX, false);
	assert_int_equal(w->list.count, 1);
}

static void a_day_is_not_settled_again_so_soon(void **state)
{
	struct progress_world *w = *state;
	int64_t now = progress_world_now(w);

	publish_hours(w);
	publish(w, (struct published){"link_day", START, 7, 1, 1, false,
				      now - 1000});
	ask_stale(w, CLOSED, now - 1001, false);
	assert_int_equal(w->list.count, 0);
	ask_stale(w, CLOSED, now - 1000, false);
	assert_int_equal(w->list.count, 1);
	/* What a clock that was ahead wrote holds nothing up. */
	publish(w, (struct published){"link_day", START, 8, 1, 1, false,
				      now + CLOCK_DAY});
	ask_stale(w, CLOSED, now - 1001, false);
	assert_int_equal(w->list.count, 1);
}

static void hold_day(struct progress_world *w, uint64_t attempt,
		     uint64_t blocks, uint64_t rows)
{
	publish(w, (struct published){"held_day", START, attempt, blocks, rows,
				      false, 0});
}

static void a_day_that_is_held_back_waits_until_it_changes(void **state)
{
	struct progress_world *w = *state;

	publish_hours(w);
	publish_day(w, 7, 3, 13);
	hold_day(w, 8, 3, 12);
	assert_false(is_stale(w, START));
	ask_stale(w, CLOSED, INT64_MAX, true);
	assert_int_equal(w->list.count, 1);
	hold_day(w, 9, 2, 12); /* of other blocks */
	assert_true(is_stale(w, START));
	hold_day(w, 10, 3, 11); /* of other rows */
	assert_true(is_stale(w, START));
	hold_day(w, 11, 3, 12);
	assert_false(is_stale(w, START));
	publish_day(w, 11, 3, 13); /* published since */
	assert_true(is_stale(w, START));
}

/* Its base has what the hours were published from before. */
static void of_a_dropped_day_hours_count_that_were_settled_since(void **state)
{
	struct progress_world *w = *state;

	publish_hours(w);
	publish_day(w, 7, 3, 12);
	publish(w, (struct published){"dropped_day", START, 8, 0, 0, false, 0});
	assert_false(is_stale(w, START));
	publish_hour(w, HOUR_OF(4), 8, 1, 2);
	assert_true(is_stale(w, START));
	assert_int_equal(find_stale(w, START)->blocks, 1);
	assert_int_equal(find_stale(w, START)->rows, 2);
	assert_int_equal(find_stale(w, START)->was_rows, 0);
	assert_int_equal(find_stale(w, START)->dropped, 8);
	publish_day(w, 8, 1, 2);
	assert_false(is_stale(w, START));
}

static void days_of_a_range_are_those_that_it_touches(void **state)
{
	struct progress_world *w = *state;
	struct error err = {0};

	for (int i = 0; i < 4; i++)
		publish_hour(w, HOUR_OF(24 * i + 5), 5, 1, 1);
	assert_int_equal(progress_days_of(w->server.ch, START + DAY,
					  START + 3 * (int64_t)DAY, &w->list,
					  &err),
			 0);
	assert_int_equal(w->list.count, 2);
	assert_int_equal(w->list.items[0].start, START + DAY);
	stale_list_release(&w->list);
	assert_int_equal(progress_days_of(w->server.ch, START + DAY - 1,
					  START + 3 * (int64_t)DAY + 1,
					  &w->list, &err),
			 0);
	assert_int_equal(w->list.count, 4);
}

/* --- how much is held back ------------------------------------------------ */

static struct held_back ask_held_back(struct progress_world *w)
{
	struct held_back held;
	struct error err = {0};

	if (progress_held_back(w->server.ch, &held, &err) < 0)
		fail_msg("%s", err.text);
	return held;
}

static void hold_hour(struct progress_world *w, int64_t hour, uint64_t attempt,
		      uint64_t blocks, uint64_t rows)
{
	publish(w, (struct published){"held_hour", hour, attempt, blocks, rows,
				      false, 0});
}

static void hours_and_days_that_are_held_back_are_counted(void **state)
{
	struct progress_world *w = *state;
	struct held_back held = ask_held_back(w);

	assert_int_equal(held.hours, 0);
	assert_int_equal(held.days, 0);
	assert_int_equal(held.first, 0);
	publish_hours(w);
	publish_day(w, 7, 3, 13);
	hold_hour(w, HOUR_OF(3), 8, 1, 7);
	hold_hour(w, HOUR_OF(4), 8, 1, 3);
	hold_hour(w, HOUR_OF(5), 8, 1, 3); /* never published */
	hold_day(w, 8, 3, 12);
	held = ask_held_back(w);
	assert_int_equal(held.hours, 3);
	assert_int_equal(held.days, 1);
	assert_int_equal(held.first, START);
}

/* The day and its first hour begin at the same time. */
static void an_hour_is_not_taken_for_its_day(void **state)
{
	struct progress_world *w = *state;

	publish_hour(w, HOUR_OF(0), 9, 5, 5);
	publish_day(w, 9, 7, 7);
	hold_hour(w, HOUR_OF(0), 8, 1, 7);
	hold_day(w, 10, 1, 7);
	assert_int_equal(ask_held_back(w).hours, 0);
	assert_int_equal(ask_held_back(w).days, 1);
}

static void what_was_published_since_is_not_held_back(void **state)
{
	struct progress_world *w = *state;

	publish_hour(w, HOUR_OF(3), 8, 1, 9);
	hold_hour(w, HOUR_OF(3), 8, 1, 7); /* at the same number */
	assert_int_equal(ask_held_back(w).hours, 0);
	hold_hour(w, HOUR_OF(3), 9, 1, 7);
	assert_int_equal(ask_held_back(w).hours, 1);
	/* What was held back came back: it is published from just that. */
	hold_hour(w, HOUR_OF(3), 10, 1, 9);
	assert_int_equal(ask_held_back(w).hours, 0);
	hold_hour(w, HOUR_OF(3), 11, 2, 9);
	assert_int_equal(ask_held_back(w).hours, 1);
}

int main(void)
{
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, progress_world_begin,            \
					progress_world_end)
	const struct CMUnitTest tests[] = {
		TEST(a_day_is_stale_while_its_hours_are_of_other_blocks),
		TEST(a_day_is_stale_when_an_hour_was_published_after_it),
		TEST(a_day_is_settled_once_it_is_closed),
		TEST(a_day_is_not_settled_again_so_soon),
		TEST(a_day_that_is_held_back_waits_until_it_changes),
		TEST(of_a_dropped_day_hours_count_that_were_settled_since),
		TEST(days_of_a_range_are_those_that_it_touches),
		TEST(hours_and_days_that_are_held_back_are_counted),
		TEST(an_hour_is_not_taken_for_its_day),
		TEST(what_was_published_since_is_not_held_back),
	};

	return cmocka_run_group_tests(tests, progress_world_open,
				      progress_world_close);
}
