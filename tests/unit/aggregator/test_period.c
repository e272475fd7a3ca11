/* Ranges by name and compared ranges, where clocks change and years leap. */
#include "tests/unit/unit.h"

#include <string.h>

#include "aggregator/api/statistics/period.h"
#include "aggregator/zone/civil.h"

static struct zone *open_zone(const char *name)
{
	struct error err = {0};
	struct zone *zone = zone_load("/usr/share/zoneinfo", name, &err);

	if (!zone)
		fail_msg("%s: %s", name, err.text);
	return zone;
}

static int64_t local_time(const struct zone *zone, int64_t year, int month,
			  int day, int64_t seconds)
{
	return zone_from_local(
		zone, civil_to_days(year, month, day) * CIVIL_DAY + seconds);
}

static void assert_at(const struct zone *zone, int64_t at, const char *expected)
{
	char text[ZONE_TEXT_MAX];

	assert_string_equal(zone_format(zone, at, text), expected);
}

static void assert_start(const struct zone *zone, const char *name, int64_t to,
			 const char *expected)
{
	enum period period = PERIOD_NONE;

	assert_true(period_parse(name, &period));
	assert_at(zone, period_start(zone, period, to), expected);
}

static void periods_begin_at_local_midnight(void **state)
{
	struct zone *zone = open_zone("Europe/Berlin");
	/* Two days after the clocks went back. */
	int64_t to = local_time(zone, 2026, 10, 27, 10 * 3600 + 900);

	(void)state;
	assert_start(zone, "today", to, "2026-10-27T00:00:00+01:00");
	assert_start(zone, "7d", to, "2026-10-21T00:00:00+02:00");
	assert_start(zone, "30d", to, "2026-09-28T00:00:00+02:00");
	assert_start(zone, "month", to, "2026-10-01T00:00:00+02:00");
	assert_start(zone, "year", to, "2026-01-01T00:00:00+01:00");
	assert_start(zone, "all", to, "1970-01-01T01:00:00+01:00");
	/* The last quarter of a day ends with the next day's midnight. */
	to = local_time(zone, 2026, 10, 28, 0);
	assert_start(zone, "today", to, "2026-10-27T00:00:00+01:00");
	assert_start(zone, "month", local_time(zone, 2026, 11, 1, 0),
		     "2026-10-01T00:00:00+02:00");
	zone_free(zone);
}

static void a_leap_day_is_a_day(void **state)
{
	struct zone *zone = open_zone("UTC");
	int64_t to = local_time(zone, 2028, 3, 1, 900);

	(void)state;
	assert_start(zone, "7d", to, "2028-02-24T00:00:00Z");
	assert_start(zone, "30d", to, "2028-02-01T00:00:00Z");
	assert_start(zone, "month", to, "2028-03-01T00:00:00Z");
	assert_start(zone, "7d", 900, "1970-01-01T00:00:00Z");
	zone_free(zone);
}

/* Midnight does not exist when clocks go forward in Santiago. */
static void a_day_without_midnight_begins_at_its_first_second(void **state)
{
	struct zone *zone = open_zone("America/Santiago");
	int64_t to = local_time(zone, 2024, 9, 8, 12 * 3600);

	(void)state;
	assert_start(zone, "today", to, "2024-09-08T01:00:00-03:00");
	assert_start(zone, "7d", local_time(zone, 2024, 9, 14, 3600),
		     "2024-09-08T01:00:00-03:00");
	zone_free(zone);
}

static void names_are_known(void **state)
{
	enum period period = PERIOD_NONE;
	enum comparison comparison = COMPARE_NONE;

	(void)state;
	assert_false(period_parse("week", &period));
	assert_false(period_parse("", &period));
	assert_false(comparison_parse("month", &comparison));
	assert_int_equal(comparison, COMPARE_NONE);
	assert_true(comparison_parse("year", &comparison));
	assert_string_equal(comparison_name(comparison), "year");
	assert_int_equal(period_interval(0, 32 * CIVIL_DAY), BUCKET_HOUR);
	assert_int_equal(period_interval(0, 32 * CIVIL_DAY + 900), BUCKET_DAY);
	assert_int_equal(period_interval(0, 367 * CIVIL_DAY), BUCKET_DAY);
	assert_int_equal(period_interval(0, 368 * CIVIL_DAY), BUCKET_MONTH);
}

static void assert_compared(const struct zone *zone, enum comparison with,
			    int64_t from, int64_t to, const char *compared_from,
			    const char *compared_to)
{
	int64_t start, end;

	assert_true(comparison_range(zone, with, from, to, &start, &end));
	assert_at(zone, start, compared_from);
	assert_at(zone, end, compared_to);
}

static void days_are_compared_with_the_same_days_of_weeks_before(void **state)
{
	struct zone *zone = open_zone("Europe/Berlin");
	int64_t from = local_time(zone, 2026, 10, 26, 0);

	(void)state;
	/* A Monday, and one week before, in summer time. */
	assert_compared(
		zone, COMPARE_PREVIOUS, from, local_time(zone, 2026, 10, 27, 0),
		"2026-10-19T00:00:00+02:00", "2026-10-20T00:00:00+02:00");
	/* Until now: the same time of day. */
	assert_compared(zone, COMPARE_PREVIOUS, from,
			local_time(zone, 2026, 10, 26, 900),
			"2026-10-19T00:00:00+02:00",
			"2026-10-19T00:15:00+02:00");
	assert_compared(
		zone, COMPARE_PREVIOUS, from, local_time(zone, 2026, 11, 2, 0),
		"2026-10-19T00:00:00+02:00", "2026-10-26T00:00:00+01:00");
	/* Eight days take two weeks; thirty take five. */
	assert_compared(zone, COMPARE_PREVIOUS, from,
			local_time(zone, 2026, 11, 2, 900),
			"2026-10-12T00:00:00+02:00",
			"2026-10-19T00:15:00+02:00");
	assert_compared(
		zone, COMPARE_PREVIOUS, from, local_time(zone, 2026, 11, 25, 0),
		"2026-09-21T00:00:00+02:00", "2026-10-21T00:00:00+02:00");
	zone_free(zone);
}

static void other_ranges_are_compared_with_the_one_just_before(void **state)
{
	struct zone *zone = open_zone("Europe/Berlin");
	int64_t from = local_time(zone, 2026, 10, 25, 4 * 3600);

	(void)state;
	/* Four hours of a night that had three o'clock twice. */
	assert_compared(zone, COMPARE_PREVIOUS, from, from + 4 * 3600,
			"2026-10-25T01:00:00+02:00",
			"2026-10-25T04:00:00+01:00");
	zone_free(zone);
}

static void a_year_before_has_the_same_weekdays(void **state)
{
	struct zone *zone = open_zone("Europe/Berlin");
	int64_t from = local_time(zone, 2028, 2, 29, 0);

	(void)state;
	/* Tuesdays. */
	assert_compared(
		zone, COMPARE_YEAR, from, local_time(zone, 2028, 3, 1, 0),
		"2027-03-02T00:00:00+01:00", "2027-03-03T00:00:00+01:00");
	/* Clocks change on other dates. */
	from = local_time(zone, 2026, 10, 24, 6 * 3600);
	assert_compared(zone, COMPARE_YEAR, from,
			local_time(zone, 2026, 10, 25, 6 * 3600),
			"2025-10-25T06:00:00+02:00",
			"2025-10-26T06:00:00+01:00");
	zone_free(zone);
}

static void a_range_that_there_never_was_is_told(void **state)
{
	struct zone *zone = open_zone("UTC"),
		    *berlin = open_zone("Europe/Berlin");
	/* A year before, the clocks skipped that hour. */
	int64_t from, to, at = local_time(berlin, 2030, 3, 24, 2 * 3600);

	(void)state;
	assert_false(comparison_range(berlin, COMPARE_YEAR, at, at + 3600,
				      &from, &to));
	assert_compared(berlin, COMPARE_YEAR, at, at + 2 * 3600,
			"2029-03-25T03:00:00+02:00",
			"2029-03-25T04:00:00+02:00");
	assert_false(
		comparison_range(zone, COMPARE_YEAR, 0, CIVIL_DAY, &from, &to));
	assert_false(comparison_range(zone, COMPARE_PREVIOUS, CIVIL_DAY + 900,
				      4 * CIVIL_DAY, &from, &to));
	zone_free(zone);
	zone_free(berlin);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(periods_begin_at_local_midnight),
		cmocka_unit_test(a_leap_day_is_a_day),
		cmocka_unit_test(
			a_day_without_midnight_begins_at_its_first_second),
		cmocka_unit_test(names_are_known),
		cmocka_unit_test(
			days_are_compared_with_the_same_days_of_weeks_before),
		cmocka_unit_test(
			other_ranges_are_compared_with_the_one_just_before),
		cmocka_unit_test(a_year_before_has_the_same_weekdays),
		cmocka_unit_test(a_range_that_there_never_was_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
