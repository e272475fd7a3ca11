/* Which hours have to be settled: their reports are compared with what they are
 * published from. */
#include "tests/unit/aggregator/progress_rows.h"

#include "schemas/ingest_progress.h"

/* Checks the hours that blocks touch which were stored since then. */
static void ask_stale(struct settled *t, int64_t since_ms, int64_t low_ms,
		      bool held)
{
	struct error err = {0};

	stale_list_release(&t->list);
	if (progress_stale_hours(t->s.ch, since_ms, low_ms, held, &t->list,
				 &err) < 0)
		fail_msg("%s", err.text);
}

static bool is_stale(struct settled *t, int64_t hour)
{
	ask_stale(t, 0, INT64_MAX, false);
	return find_stale(t, hour) != NULL;
}

static uint64_t count_stale(struct settled *t, int64_t from, int64_t to)
{
	struct error err = {0};
	uint64_t n;

	if (progress_count_stale(t->s.ch, from, to, &n, &err) < 0)
		fail_msg("%s", err.text);
	return n;
}

static void ask_hours(struct settled *t, int64_t from, int64_t to)
{
	struct error err = {0};

	stale_list_release(&t->list);
	if (progress_hours_of(t->s.ch, from, to, &t->list, &err) < 0)
		fail_msg("%s", err.text);
}

static size_t count_waiting(struct settled *t, int64_t since_ms)
{
	struct error err = {0};

	stale_list_release(&t->list);
	if (progress_waiting_hours(t->s.ch, since_ms, 0, UINT32_MAX, &t->list,
				   &err) < 0)
		fail_msg("%s", err.text);
	return t->list.count;
}

/* --- blocks and rows ------------------------------------------------------ */

static void an_hour_that_was_never_published_is_stale(void **state)
{
	struct settled *t = *state;
	const struct stale *hour;

	assert_false(is_stale(t, HOUR_OF(0)));
	report_block(t, HOUR_OF(0), 0, 6, 7);
	report_block(t, HOUR_OF(0), 7, 11, 5);
	report_block(t, HOUR_OF(2), 12, 12, 1);
	ask_stale(t, 0, INT64_MAX, false);
	assert_int_equal(t->list.count, 2);
	assert_int_equal(t->list.items[1].start, HOUR_OF(2));
	hour = &t->list.items[0];
	assert_int_equal(hour->start, HOUR_OF(0));
	assert_int_equal(hour->blocks, 2);
	assert_int_equal(hour->rows, 12);
	assert_int_equal(hour->was_rows, 0);
	assert_false(hour->was);
	assert_int_equal(hour->was_attempt, 0);
	assert_int_equal(hour->dropped, 0);
	assert_false(hour->provisional);
	assert_int_equal(count_stale(t, START, START + DAY), 2);
}

static void an_hour_is_stale_while_its_blocks_or_rows_are_others(void **state)
{
	static const struct {
		uint64_t blocks, rows;
		bool stale;
	} cases[] = {{2, 12, false}, {1, 12, true}, {3, 12, true},
		     {2, 11, true},  {2, 13, true}, {0, 0, true}};
	struct settled *t = *state;
	const struct stale *hour;

	report_block(t, HOUR_OF(0), 0, 6, 7);
	report_block(t, HOUR_OF(0), 7, 11, 5);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		publish_hour(t, HOUR_OF(0), i + 1, cases[i].blocks,
			     cases[i].rows);
		assert_int_equal(is_stale(t, HOUR_OF(0)), cases[i].stale);
		assert_int_equal(count_stale(t, START, START + DAY),
				 cases[i].stale);
		hour = find_stale(t, HOUR_OF(0));
		if (!hour)
			continue;
		assert_true(hour->was);
		assert_int_equal(hour->was_attempt, i + 1);
		assert_int_equal(hour->was_rows, cases[i].rows);
	}
	/* The newest attempt counts, whenever it was inserted. */
	publish_hour(t, HOUR_OF(0), 99, 2, 12);
	publish_hour(t, HOUR_OF(0), 98, 9, 99);
	assert_false(is_stale(t, HOUR_OF(0)));
}

/* A collector reports again if a response was lost. */
static void rows_of_a_block_that_is_reported_twice_count_once(void **state)
{
	struct settled *t = *state;

	for (int i = 0; i < 2; i++)
		report_block_at(t, HOUR_OF(0), 0, 6, 7,
				HOUR_OF(0) * CLOCK_SECOND + i);
	assert_true(is_stale(t, HOUR_OF(0)));
	assert_int_equal(find_stale(t, HOUR_OF(0))->blocks, 2);
	assert_int_equal(find_stale(t, HOUR_OF(0))->rows, 7);
}

/* The offsets of another partition or epoch are different ones. */
static void blocks_of_other_sources_are_no_repeats(void **state)
{
	struct settled *t = *state;

	store_report(t,
		     (struct block){.hour = HOUR_OF(0), .last = 6, .rows = 7});
	store_report(t, (struct block){.hour = HOUR_OF(0),
				       .last = 6,
				       .rows = 7,
				       .partition = 1});
	store_report(t, (struct block){.hour = HOUR_OF(0),
				       .last = 6,
				       .rows = 7,
				       .epoch = 1});
	assert_true(is_stale(t, HOUR_OF(0)));
	assert_int_equal(find_stale(t, HOUR_OF(0))->blocks, 3);
	assert_int_equal(find_stale(t, HOUR_OF(0))->rows, 21);
}

static void hours_are_counted_from_the_first_to_before_the_end(void **state)
{
	struct settled *t = *state;

	for (int i = 0; i < 4; i++)
		report_block(t, HOUR_OF(i), (uint64_t)i, (uint64_t)i, 1);
	assert_int_equal(count_stale(t, HOUR_OF(1), HOUR_OF(3)), 2);
	assert_int_equal(count_stale(t, HOUR_OF(1) + 1, HOUR_OF(3) + 1), 2);
}

/* --- time of storing ------------------------------------------------------ */

/* Blocks that were stored before are known; for an hour that is touched, all
 * blocks are compared. */
static void an_hour_is_looked_at_when_a_block_was_stored_since(void **state)
{
	struct settled *t = *state;
	int64_t began = HOUR_OF(0) * CLOCK_SECOND;

	report_block_at(t, HOUR_OF(0), 0, 6, 7, began + 1000);
	ask_stale(t, began + 1001, INT64_MAX, false);
	assert_int_equal(t->list.count, 0);
	ask_stale(t, began + 1000, INT64_MAX, false);
	assert_int_equal(t->list.count, 1);
	report_block_at(t, HOUR_OF(0), 7, 7, 1, began + 5000);
	ask_stale(t, began + 5000, INT64_MAX, false);
	assert_int_equal(t->list.count, 1);
	assert_int_equal(t->list.items[0].rows, 8);
}

static void
blocks_are_stored_ten_minutes_before_their_hour_at_most(void **state)
{
	struct settled *t = *state;
	int64_t early = (HOUR_OF(0) - PROGRESS_EARLY) * CLOCK_SECOND;

	report_block_at(t, HOUR_OF(0), 0, 0, 1, early);
	report_block_at(t, HOUR_OF(0), 1, 1, 1, early - 1);
	ask_stale(t, 0, INT64_MAX, false);
	assert_int_equal(find_stale(t, HOUR_OF(0))->blocks, 1);
	/* ClickHouse's clock went back. */
	ask_stale(t, 0, early - 1, false);
	assert_int_equal(find_stale(t, HOUR_OF(0))->blocks, 2);
	ask_stale(t, 0, early, false);
	assert_int_equal(find_stale(t, HOUR_OF(0))->blocks, 1);
	ask_stale(t, 0, -1, false);
	assert_int_equal(find_stale(t, HOUR_OF(0))->blocks, 2);
	/* How far the hour was read is unknown, so all blocks count. */
	assert_int_equal(count_stale(t, START, START + DAY), 1);
	ask_hours(t, START, START + DAY);
	assert_int_equal(t->list.items[0].blocks, 2);
}

/* The table is read from the first of these hours on; from its beginning only
 * if all hours are searched. */
static void an_hour_waits_as_a_pass_compares_it(void **state)
{
	struct settled *t = *state;
	int64_t began = HOUR_OF(0) * CLOCK_SECOND;

	report_block_at(t, HOUR_OF(0), 0, 6, 7, began);
	report_block_at(t, HOUR_OF(0), 7, 7, 1,
			began - PROGRESS_EARLY * CLOCK_SECOND - 1);
	publish_hour(t, HOUR_OF(0), 5, 1, 7);
	assert_int_equal(count_waiting(t, began), 0);
	assert_int_equal(count_waiting(t, 1), 0);
	assert_int_equal(count_waiting(t, 0), 1);
	publish_hour(t, HOUR_OF(0), 6, 2, 8);
	assert_int_equal(count_waiting(t, began), 1);
	assert_int_equal(count_waiting(t, began + 1), 0);
	assert_int_equal(count_waiting(t, 0), 0);
}

/* --- held back ------------------------------------------------------------ */

static void hold_hour(struct settled *t, uint64_t attempt, uint64_t blocks,
		      uint64_t rows)
{
	publish_attempt(t, (struct published){"held_hour", HOUR_OF(0), attempt,
					      blocks, rows, false, 0});
}

static void an_hour_that_is_held_back_waits_until_it_changes(void **state)
{
	struct settled *t = *state;

	report_block(t, HOUR_OF(0), 0, 6, 7);
	publish_hour(t, HOUR_OF(0), 5, 1, 9);
	hold_hour(t, 6, 1, 7);
	assert_false(is_stale(t, HOUR_OF(0)));
	ask_stale(t, 0, INT64_MAX, true);
	assert_int_equal(t->list.count, 1);
	/* The hour counts as stale nevertheless. */
	assert_int_equal(count_stale(t, START, START + DAY), 1);

	hold_hour(t, 7, 1, 6); /* from other rows */
	assert_true(is_stale(t, HOUR_OF(0)));
	hold_hour(t, 8, 2, 7); /* from other blocks */
	assert_true(is_stale(t, HOUR_OF(0)));
	hold_hour(t, 9, 1, 7);
	assert_false(is_stale(t, HOUR_OF(0)));
	publish_hour(t, HOUR_OF(0), 9, 1, 9); /* published since */
	assert_true(is_stale(t, HOUR_OF(0)));
}

/* --- hours that are not over ---------------------------------------------- */

static void an_open_hour_is_stale_a_minute_after_its_end(void **state)
{
	struct settled *t = *state;
	int64_t now = settling_now(&t->s) / CLOCK_SECOND;
	/* One hour is over for a minute, one for less, one is not over; each by
	 * enough time for a slow test. */
	int64_t over = now - HOUR - PROGRESS_CLOSES;
	int64_t closing = now - HOUR - PROGRESS_CLOSES + 50;

	publish_attempt(t, (struct published){"hour", over, 5, 1, 7, true, 0});
	report_block(t, over, 0, 6, 7);
	publish_attempt(t,
			(struct published){"hour", closing, 5, 1, 7, true, 0});
	report_block(t, closing, 7, 13, 7);
	/* The hour is checked without a block that was stored since. */
	ask_stale(t, INT64_MAX / 2, INT64_MAX, false);
	assert_int_equal(t->list.count, 1);
	assert_int_equal(t->list.items[0].start, over);
	assert_true(t->list.items[0].provisional);
	/* Once the hour is settled whole, it is not checked again. */
	publish_hour(t, over, 6, 1, 7);
	ask_stale(t, INT64_MAX / 2, INT64_MAX, false);
	assert_int_equal(t->list.count, 0);
}

/* Only an hour of the last day is checked without a block. */
static void an_open_hour_of_long_ago_is_stale_when_it_is_touched(void **state)
{
	struct settled *t = *state;
	int64_t old = settling_now(&t->s) / CLOCK_SECOND - DAY - 60;

	publish_attempt(t, (struct published){"hour", old, 5, 1, 7, true, 0});
	report_block(t, old, 0, 6, 7);
	ask_stale(t, INT64_MAX / 2, INT64_MAX, false);
	assert_int_equal(t->list.count, 0);
	ask_stale(t, 0, INT64_MAX, false);
	assert_int_equal(t->list.count, 1);
}

/* --- dropped days --------------------------------------------------------- */

static void hours_of_dropped_months_are_never_stale(void **state)
{
	struct settled *t = *state;

	for (int i = 0; i < 3; i++)
		report_block(t, HOUR_OF(i), (uint64_t)i, (uint64_t)i, 1);
	publish_attempt(t, (struct published){"kept_from", HOUR_OF(1), 9, 0, 0,
					      false, 0});
	ask_stale(t, 0, INT64_MAX, true);
	assert_int_equal(t->list.count, 2);
	assert_int_equal(t->list.items[0].start, HOUR_OF(1));
	assert_int_equal(count_stale(t, START, START + DAY), 2);
	ask_hours(t, START, START + DAY);
	assert_int_equal(t->list.count, 2);
	assert_int_equal(t->list.items[0].start, HOUR_OF(1));
}

/* The base of the day has what lies up to the frontier of its source. */
static void of_a_dropped_day_what_came_since_is_settled(void **state)
{
	struct settled *t = *state;
	const struct stale *hour;

	report_block(t, HOUR_OF(0), 0, 6, 7);
	publish_hour(t, HOUR_OF(0), 5, 1, 7);
	settled_drop(t, START, 8);
	drop_source(t, 8, 0, 6);
	drop_source(t, 7, 0, 99); /* by a drop that was not published */
	assert_false(is_stale(t, HOUR_OF(0)));

	report_block(t, HOUR_OF(0), 7, 7, 1);
	assert_true(is_stale(t, HOUR_OF(0)));
	hour = find_stale(t, HOUR_OF(0));
	assert_int_equal(hour->blocks, 1);
	assert_int_equal(hour->rows, 1);
	assert_int_equal(hour->was_rows, 0);
	assert_int_equal(hour->dropped, 8);
	publish_hour(t, HOUR_OF(0), 9, 1, 1);
	assert_false(is_stale(t, HOUR_OF(0)));

	/* The block was read again and lies on both sides: how many of its rows
	 * are new is unknown. */
	report_block(t, HOUR_OF(0), 5, 8, 4);
	assert_true(is_stale(t, HOUR_OF(0)));
	assert_int_equal(find_stale(t, HOUR_OF(0))->blocks, 2);
	assert_int_equal(find_stale(t, HOUR_OF(0))->rows, 1);
	/* A block that begins after the frontier counts whole. */
	report_block(t, HOUR_OF(0), 9, 9, 1);
	assert_true(is_stale(t, HOUR_OF(0)));
	assert_int_equal(find_stale(t, HOUR_OF(0))->rows, 2);
}

static void a_source_without_a_frontier_counts_whole(void **state)
{
	struct settled *t = *state;

	settled_drop(t, START, 8);
	drop_source(t, 8, 0, 6);
	store_report(t, (struct block){.hour = HOUR_OF(0),
				       .last = 6,
				       .rows = 7,
				       .partition = 1});
	store_report(t, (struct block){.hour = HOUR_OF(0),
				       .last = 6,
				       .rows = 7,
				       .epoch = 1});
	/* The next day was not dropped. */
	report_block(t, START + DAY, 0, 6, 7);
	ask_stale(t, 0, INT64_MAX, false);
	assert_int_equal(t->list.count, 2);
	assert_int_equal(t->list.items[0].rows, 14);
	assert_int_equal(t->list.items[1].rows, 7);
	assert_int_equal(t->list.items[1].dropped, 0);
}

/* --- all hours of a range ------------------------------------------------- */

static void all_hours_of_a_range_are_those_of_any_trace(void **state)
{
	struct settled *t = *state;
	uint64_t n = 0;

	for (int i = 0; i < 4; i++, n++)
		report_block(t, HOUR_OF(i), n, n, 1);
	for (int i = 4; i < 8; i++)
		publish_hour(t, HOUR_OF(i), 5, 1, 7);
	for (int i = 8; i < 12; i++)
		settled_insert_some(t, HOUR_OF(i) + 1800, 2);
	ask_hours(t, HOUR_OF(1), HOUR_OF(11));
	assert_int_equal(t->list.count, 10);
	for (int i = 1; i < 11; i++)
		assert_int_equal(t->list.items[i - 1].start, HOUR_OF(i));
	assert_int_equal(t->list.items[0].blocks, 1);
	assert_int_equal(t->list.items[3].was_attempt, 5);
	assert_int_equal(t->list.items[3].was_rows, 7);
	assert_false(t->list.items[9].was);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SETTLED_TEST(an_hour_that_was_never_published_is_stale),
		SETTLED_TEST(
			an_hour_is_stale_while_its_blocks_or_rows_are_others),
		SETTLED_TEST(rows_of_a_block_that_is_reported_twice_count_once),
		SETTLED_TEST(blocks_of_other_sources_are_no_repeats),
		SETTLED_TEST(
			hours_are_counted_from_the_first_to_before_the_end),
		SETTLED_TEST(
			an_hour_is_looked_at_when_a_block_was_stored_since),
		SETTLED_TEST(
			blocks_are_stored_ten_minutes_before_their_hour_at_most),
		SETTLED_TEST(an_hour_waits_as_a_pass_compares_it),
		SETTLED_TEST(an_hour_that_is_held_back_waits_until_it_changes),
		SETTLED_TEST(an_open_hour_is_stale_a_minute_after_its_end),
		SETTLED_TEST(
			an_open_hour_of_long_ago_is_stale_when_it_is_touched),
		SETTLED_TEST(hours_of_dropped_months_are_never_stale),
		SETTLED_TEST(of_a_dropped_day_what_came_since_is_settled),
		SETTLED_TEST(a_source_without_a_frontier_counts_whole),
		SETTLED_TEST(all_hours_of_a_range_are_those_of_any_trace),
	};

	return cmocka_run_group_tests(tests, settled_open, settled_close);
}
