#include "tests/unit/unit.h"

#include <string.h>

#include "aggregator/settle/day_counts.h"
#include "aggregator/settle/hour_counts.h"
#include "aggregator/settle/settle_sql.h"

#define START INT64_C(1792800000)

/* --- hours ------------------------------------------------------------------
 */

static int check_hour(struct hour_counts n, const char *told)
{
	struct error err = {0};
	int status = hour_counts_check_staged(&n, START, &err);

	if (status < 0) {
		assert_int_equal(err.code, ERROR_PROTOCOL);
		assert_non_null(strstr(err.text, told));
		assert_non_null(strstr(err.text, "hour 1792800000"));
	}
	return status;
}

static void an_hour_has_the_rows_of_before_to_those_of_after(void **state)
{
	struct hour_counts n = {.least = 10, .most = 12};
	const char *told = "events were staged of 10 to 12 rows";

	(void)state;
	for (n.staged = 10; n.staged <= 12; n.staged++)
		assert_int_equal(check_hour(n, told), 0);
	n.staged = 9;
	assert_int_equal(check_hour(n, told), -1);
	n.staged = 13;
	assert_int_equal(check_hour(n, told), -1);
	n.staged = 0;
	assert_int_equal(check_hour(n, told), -1);
}

/* This holds even where that number of rows is within the limits. */
static void an_hour_whose_dimensions_differ_is_not_right(void **state)
{
	struct hour_counts n = {
		.least = 0, .most = UINT64_MAX, .staged = SETTLE_SQL_UNEVEN};

	(void)state;
	assert_int_equal(check_hour(n, "its dimensions hold different"), -1);
	n.staged--;
	assert_int_equal(check_hour(n, ""), 0);
}

static void an_hour_misses_some_by_what_was_published_or_reported(void **state)
{
	struct stale hour = {.rows = 7};
	struct hour_counts n = {.staged = 10, .before = 10, .base = 3};

	(void)state;
	assert_false(hour_counts_miss_some(&n, &hour));
	n.before = 11;
	assert_true(hour_counts_miss_some(&n, &hour));
	n.before = 10;
	hour.rows = 8;
	assert_true(hour_counts_miss_some(&n, &hour));
	hour.rows = 7;
	n.base = 4;
	assert_true(hour_counts_miss_some(&n, &hour));
}

static void fewer_than_were_published_are_lacking(void **state)
{
	struct stale hour = {.rows = 9, .was_rows = 9, .was = true};
	struct hour_counts n = {.staged = 9, .before = 9};

	(void)state;
	assert_false(hour_counts_lack_rows(&n, &hour));
	n.before = 10;
	assert_true(hour_counts_lack_rows(&n, &hour));
	/* Rows that were taken back do not count as missing. */
	n.taken.rows = 1;
	assert_false(hour_counts_lack_rows(&n, &hour));
	n.before = 11;
	assert_true(hour_counts_lack_rows(&n, &hour));
}

static void fewer_than_were_reported_since_are_lacking(void **state)
{
	/* Two rows were missing when the hour was published: 12 of 14. */
	struct stale hour = {.rows = 20, .was_rows = 14, .was = true};
	struct hour_counts n = {.staged = 18, .before = 12};

	(void)state;
	assert_false(hour_counts_lack_rows(&n, &hour));
	n.staged = 17;
	assert_true(hour_counts_lack_rows(&n, &hour));
	/* Reports may still contain rows that are being taken back. */
	n.taken.going = 1;
	assert_false(hour_counts_lack_rows(&n, &hour));
	n.taken = (struct taken_back){.rows = 5};
	assert_true(hour_counts_lack_rows(&n, &hour));
	n.taken = (struct taken_back){0};
	/* An hour that was not published cannot have lost rows since. */
	hour.was = false;
	assert_false(hour_counts_lack_rows(&n, &hour));
}

/* Reports do not contain the base; staged events do. */
static void the_base_of_a_dropped_day_is_reported_by_nobody(void **state)
{
	struct stale hour = {.rows = 5, .was_rows = 0, .was = true};
	struct hour_counts n = {.staged = 105, .before = 100, .base = 100};

	(void)state;
	assert_false(hour_counts_lack_rows(&n, &hour));
	n.staged = 104;
	assert_true(hour_counts_lack_rows(&n, &hour));
	/* Two events of the base were missing at publication, and still are. */
	n.before = 98;
	n.staged = 103;
	assert_false(hour_counts_lack_rows(&n, &hour));
	n.staged = 102;
	assert_true(hour_counts_lack_rows(&n, &hour));
	/* More rows than were reported are no shortage. */
	n.before = 103;
	hour.was_rows = 3;
	n.staged = 105;
	assert_false(hour_counts_lack_rows(&n, &hour));
	n.staged = 120;
	assert_false(hour_counts_lack_rows(&n, &hour));
}

static void what_has_gone_since_holds_an_hour_back(void **state)
{
	struct stale hour = {.rows = 10, .was_rows = 10, .was = true};
	struct hour_counts n = {.staged = 10, .before = 10};

	(void)state;
	assert_int_equal(hour_counts_decide(&n, &hour, false), HOUR_PUBLISHED);
	assert_int_equal(hour_counts_decide(&n, &hour, true), HOUR_PUBLISHED);
	n.staged = 9;
	assert_int_equal(hour_counts_decide(&n, &hour, false), HOUR_HELD_BACK);
	assert_int_equal(hour_counts_decide(&n, &hour, true),
			 HOUR_PUBLISHED_SHORT);
	/* The same rows were missing at publication: the shortage is not
	 * reported again. */
	n.before = 9;
	assert_int_equal(hour_counts_decide(&n, &hour, false), HOUR_PUBLISHED);
}

static void what_was_gone_before_is_reported_once(void **state)
{
	struct stale hour = {.rows = 10};
	struct hour_counts n = {.staged = 10};

	(void)state;
	assert_int_equal(hour_counts_decide(&n, &hour, false), HOUR_PUBLISHED);
	n.staged = 9;
	assert_int_equal(hour_counts_decide(&n, &hour, false),
			 HOUR_PUBLISHED_SHORT);
	n.taken.going = 1;
	assert_int_equal(hour_counts_decide(&n, &hour, false), HOUR_PUBLISHED);
	n.staged = 8;
	assert_int_equal(hour_counts_decide(&n, &hour, false),
			 HOUR_PUBLISHED_SHORT);
	n.taken = (struct taken_back){0};
	n.base = 3;
	n.staged = 13;
	assert_int_equal(hour_counts_decide(&n, &hour, false), HOUR_PUBLISHED);
	n.staged = 12;
	assert_int_equal(hour_counts_decide(&n, &hour, false),
			 HOUR_PUBLISHED_SHORT);
}

/* --- days -------------------------------------------------------------------
 */

static int check_day(struct day_counts n, uint64_t least, uint64_t most)
{
	struct error err = {0};
	int status = day_counts_check_staged(&n, least, most, &err);

	if (status < 0) {
		assert_int_equal(err.code, ERROR_PROTOCOL);
		assert_non_null(strstr(err.text, "of 10 to 12 rows"));
	}
	return status;
}

static void both_tables_of_a_day_have_what_rows_of_links_there_are(void **state)
{
	(void)state;
	for (uint64_t n = 8; n <= 14; n++) {
		int expected = n >= 10 && n <= 12 ? 0 : -1;
		struct day_counts slots = {.staged = {n, 11}};
		struct day_counts visits = {.staged = {11, n}};

		assert_int_equal(check_day(slots, 10, 12), expected);
		assert_int_equal(check_day(visits, 10, 12), expected);
	}
}

static void a_day_has_fewer_by_slots_or_by_visits(void **state)
{
	struct day_counts n = {.staged = {10, 10}, .before = {10, 10}};

	(void)state;
	assert_false(day_counts_have_fewer(&n));
	n.before.slots = 11;
	assert_true(day_counts_have_fewer(&n));
	n.taken.rows = 1;
	assert_false(day_counts_have_fewer(&n));
	n.before.slots = 12;
	assert_true(day_counts_have_fewer(&n));
	n.before = (struct link_events){10, 12};
	assert_true(day_counts_have_fewer(&n));
	n.before.visits = 11;
	assert_false(day_counts_have_fewer(&n));
	n.taken.rows = 0;
	assert_true(day_counts_have_fewer(&n));
}

static void a_day_lacks_rows_when_its_hours_have_more(void **state)
{
	struct day_counts n = {.all = 10, .hours = 10};

	(void)state;
	assert_false(day_counts_lack_rows(&n));
	n.hours = 11;
	assert_true(day_counts_lack_rows(&n));
	assert_true(day_counts_lack_more(&n));
	n.taken.rows = 1;
	assert_true(day_counts_lack_rows(&n));
	assert_false(day_counts_lack_more(&n));
	n.hours = 12;
	assert_true(day_counts_lack_more(&n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			an_hour_has_the_rows_of_before_to_those_of_after),
		cmocka_unit_test(an_hour_whose_dimensions_differ_is_not_right),
		cmocka_unit_test(
			an_hour_misses_some_by_what_was_published_or_reported),
		cmocka_unit_test(fewer_than_were_published_are_lacking),
		cmocka_unit_test(fewer_than_were_reported_since_are_lacking),
		cmocka_unit_test(
			the_base_of_a_dropped_day_is_reported_by_nobody),
		cmocka_unit_test(what_has_gone_since_holds_an_hour_back),
		cmocka_unit_test(what_was_gone_before_is_reported_once),
		cmocka_unit_test(
			both_tables_of_a_day_have_what_rows_of_links_there_are),
		cmocka_unit_test(a_day_has_fewer_by_slots_or_by_visits),
		cmocka_unit_test(a_day_lacks_rows_when_its_hours_have_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
