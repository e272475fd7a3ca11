#include "tests/unit/unit.h"

#include <string.h>

#include "aggregator/zone/buckets.h"
#include "aggregator/zone/civil.h"
#include "aggregator/zone/posix_tz.h"
#include "aggregator/zone/tzif.h"
#include "aggregator/zone/zone.h"
#include "common/clock.h"

/* The tests use only past rules of the zones, which are the same in all
 * installed versions: countries can still change future rules. */
#define ZONEINFO "/usr/share/zoneinfo"

static int64_t parse_instant(const char *text)
{
	struct error err = {0};
	int64_t ms = 0;

	assert_int_equal(rfc3339_parse(text, &ms, &err), 0);
	return ms / 1000;
}

static struct zone *load_zone(const char *name)
{
	struct error err = {0};
	struct zone *z = zone_load(ZONEINFO, name, &err);

	if (!z)
		fail_msg("%s", err.text);
	return z;
}

static void assert_starts(const char *name, enum bucket_interval interval,
			  const char *from, const char *to,
			  const char *const *expected)
{
	struct zone *z = load_zone(name);
	struct buckets b;
	struct error err = {0};
	char text[ZONE_TEXT_MAX];
	size_t n = 0;

	assert_int_equal(buckets_cut(&b, z, interval, parse_instant(from),
				     parse_instant(to), 100, &err),
			 0);
	for (; expected[n]; n++) {
		assert_true(n < b.count);
		assert_string_equal(zone_format(z, b.starts[n], text),
				    expected[n]);
	}
	assert_int_equal(b.count, n);
	buckets_release(&b);
	zone_free(z);
}

static void an_hour_shown_twice_is_two_buckets(void **state)
{
	static const char *const expected[] = {
		"2022-10-30T01:00:00+02:00", "2022-10-30T02:00:00+02:00",
		"2022-10-30T02:00:00+01:00", "2022-10-30T03:00:00+01:00", NULL};

	(void)state;
	assert_starts("Europe/Berlin", BUCKET_HOUR, "2022-10-29T23:00:00Z",
		      "2022-10-30T03:00:00Z", expected);
}

static void an_hour_that_is_skipped_is_no_bucket(void **state)
{
	static const char *const expected[] = {
		"2022-03-27T01:00:00+01:00", "2022-03-27T03:00:00+02:00", NULL};

	(void)state;
	assert_starts("Europe/Berlin", BUCKET_HOUR, "2022-03-27T00:00:00Z",
		      "2022-03-27T02:00:00Z", expected);
}

static void a_change_of_half_an_hour_leaves_a_half_hour(void **state)
{
	static const char *const expected[] = {
		"2022-04-03T01:00:00+11:00", "2022-04-03T01:30:00+10:30",
		"2022-04-03T02:00:00+10:30", NULL};

	(void)state;
	assert_starts("Australia/Lord_Howe", BUCKET_HOUR,
		      "2022-04-02T14:00:00Z", "2022-04-02T16:30:00Z", expected);
}

static void hours_of_kathmandu_start_at_a_quarter_past(void **state)
{
	static const char *const expected[] = {
		"2022-11-21T05:00:00+05:45", "2022-11-21T06:00:00+05:45", NULL};

	(void)state;
	assert_starts("Asia/Kathmandu", BUCKET_HOUR, "2022-11-20T23:15:00Z",
		      "2022-11-21T01:15:00Z", expected);
}

static void the_first_bucket_starts_where_the_range_does(void **state)
{
	static const char *const expected[] = {
		"2022-11-21T05:30:00+05:30", "2022-11-22T00:00:00+05:30", NULL};

	(void)state;
	assert_starts("Asia/Kolkata", BUCKET_DAY, "2022-11-21T00:00:00Z",
		      "2022-11-22T00:00:00Z", expected);
}

static void a_day_without_midnight_starts_at_one(void **state)
{
	/* Cairo's clocks went forward at midnight. */
	static const char *const expected[] = {
		"2014-05-15T00:00:00+02:00", "2014-05-16T01:00:00+03:00",
		"2014-05-17T00:00:00+03:00", NULL};

	(void)state;
	assert_starts("Africa/Cairo", BUCKET_DAY, "2014-05-14T22:00:00Z",
		      "2014-05-17T21:00:00Z", expected);
}

static void a_midnight_shown_twice_starts_one_day(void **state)
{
	/* Havana's clocks went back from one to midnight. */
	static const char *const expected[] = {
		"2022-11-05T00:00:00-04:00", "2022-11-06T00:00:00-04:00",
		"2022-11-07T00:00:00-05:00", NULL};

	(void)state;
	assert_starts("America/Havana", BUCKET_DAY, "2022-11-05T04:00:00Z",
		      "2022-11-07T06:00:00Z", expected);
}

static void a_date_that_never_was_is_no_bucket(void **state)
{
	/* Samoa had no 30 December 2011. */
	static const char *const expected[] = {
		"2011-12-29T00:00:00-10:00", "2011-12-31T00:00:00+14:00", NULL};

	(void)state;
	assert_starts("Pacific/Apia", BUCKET_DAY, "2011-12-29T10:00:00Z",
		      "2011-12-31T10:00:00Z", expected);
}

static void weeks_start_on_monday(void **state)
{
	static const char *const expected[] = {"2026-11-16T00:00:00Z",
					       "2026-11-23T00:00:00Z", NULL};

	(void)state;
	assert_starts("UTC", BUCKET_WEEK, "2026-11-16T00:00:00Z",
		      "2026-11-24T00:00:00Z", expected);
}

static void months_go_over_the_turn_of_the_year(void **state)
{
	static const char *const expected[] = {
		"2021-12-01T00:00:00-05:00", "2022-01-01T00:00:00-05:00",
		"2022-02-01T00:00:00-05:00", NULL};

	(void)state;
	assert_starts("America/New_York", BUCKET_MONTH, "2021-12-01T05:00:00Z",
		      "2022-02-02T00:00:00Z", expected);
}

/* The file is the test's own, since Europe's future rules can change. */
static void the_rule_goes_on_after_the_files_last_change(void **state)
{
	static const char file[] = "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				   "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				   "\0\0\0\1\0\0\0\4\0\0\x0e\x10\0\0CET\0"
				   "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				   "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				   "\0\0\0\1\0\0\0\4\0\0\x0e\x10\0\0CET\0"
				   "\nCET-1CEST,M3.5.0,M10.5.0/3\n";
	char directory[] = "/tmp/shortloop-unit-XXXXXX", path[64];
	struct error err = {0};
	struct zone *z;
	FILE *out;

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/Own", directory);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(file, 1, sizeof(file) - 1, out),
			 sizeof(file) - 1);
	fclose(out);
	z = zone_load(directory, "Own", &err);
	assert_non_null(z);
	assert_int_equal(zone_offset(z, parse_instant("2100-07-01T00:00:00Z")),
			 7200);
	assert_int_equal(zone_offset(z, parse_instant("2100-12-01T00:00:00Z")),
			 3600);
	zone_free(z);
	unit_remove_dir(directory);
}

static void too_many_buckets_are_refused(void **state)
{
	struct zone *z = load_zone("UTC");
	struct buckets b;
	struct error err = {0};

	(void)state;
	assert_int_equal(buckets_cut(&b, z, BUCKET_15M, 0, 86400, 95, &err),
			 -1);
	assert_int_equal(err.code, ERROR_INPUT);
	zone_free(z);
}

static void an_offset_of_odd_seconds_still_advances(void **state)
{
	struct zone *z = load_zone("Africa/Monrovia"); /* -0:44:30 until 1972 */
	int64_t at = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		int64_t next = bucket_next(z, BUCKET_HOUR, at);

		assert_true(next > at && next % BUCKET_SLOT == 0);
		at = next;
	}
	zone_free(z);
}

static void the_bucket_of_an_instant_is_found(void **state)
{
	int64_t starts[] = {0, 900, 3600};
	struct buckets b = {starts, 3};

	(void)state;
	assert_int_equal(buckets_find(&b, 899), 0);
	assert_int_equal(buckets_find(&b, 900), 1);
	assert_int_equal(buckets_find(&b, 9999), 2);
}

static void names_that_leave_the_directory_are_refused(void **state)
{
	static const char *const bad[] = {"../etc/passwd",  "/etc/localtime",
					  "Europe/../UTC",  "",
					  "Europe/Nowhere", "Europe",
					  "tzdata.zi",	    "Europe/Berlin/x"};
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_null(zone_load(ZONEINFO, bad[i], &err));
		assert_int_equal(err.code, ERROR_INPUT);
	}
}

/* These files of the directory are the zone of a host. */
static void names_of_no_zone_of_its_own_are_refused(void **state)
{
	static const char *const bad[] = {"localtime", "posixrules"};
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_null(zone_load(ZONEINFO, bad[i], &err));
		assert_int_equal(err.code, ERROR_INPUT);
	}
}

static void utc_needs_no_file(void **state)
{
	struct error err = {0};
	struct zone *z = zone_load("/nonexistent", "UTC", &err);

	(void)state;
	assert_non_null(z);
	assert_int_equal(zone_offset(z, 0), 0);
	zone_free(z);
}

static void days_of_the_calendar_go_round(void **state)
{
	(void)state;
	for (int64_t day = -800000; day < 800000; day += 13) {
		struct civil c = civil_from_days(day);

		assert_int_equal(civil_to_days(c.year, c.month, c.day), day);
	}
	assert_int_equal(civil_weekday(civil_to_days(2026, 11, 21)), 6);
}

static void days_and_hours_have_names(void **state)
{
	char text[CIVIL_NAME_MAX];

	(void)state;
	assert_string_equal(civil_day_name(1792800000, text), "2026-10-24");
	assert_string_equal(civil_hour_name(1792800000 + 7 * 3600, text),
			    "2026-10-24T07Z");
	assert_string_equal(civil_hour_name(4294965600, text),
			    "2106-02-07T06Z");
	assert_string_equal(civil_hour_name(-3600, text), "1969-12-31T23Z");
}

static void a_rule_with_negative_and_long_times_is_read(void **state)
{
	struct posix_tz tz;
	struct error err = {0};

	(void)state;
	/* Greenland, 2023: the change is at 22:00 the day before. */
	assert_int_equal(
		posix_tz_parse(&tz, "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", &err),
		0);
	assert_int_equal(posix_tz_dst_begin(&tz, 2026),
			 parse_instant("2026-03-29T01:00:00Z"));
}

static void bad_rules_are_refused(void **state)
{
	static const char *const bad[] = {"",
					  "CET",
					  "CET-1CEST",
					  "CET-1CEST,M3.5.0",
					  "C-1",
					  "CET-99",
					  "CET-1CEST,M13.1.0,M10.5.0",
					  "<CET-1",
					  "CET-1CEST,J0,J10",
					  "CET-1CEST,M3.5.0,M10.5.0x"};
	struct posix_tz tz;
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(posix_tz_parse(&tz, bad[i], &err), -1);
}

static void a_file_cut_anywhere_is_refused(void **state)
{
	/* Version 2, no changes, one type at +1 h, footer "CET-1". */
	static const char file[] = "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				   "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				   "\0\0\0\1\0\0\0\4\0\0\x0e\x10\0\0CET\0"
				   "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				   "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				   "\0\0\0\1\0\0\0\4\0\0\x0e\x10\0\0CET\0"
				   "\nCET-1\n";
	struct tzif tzif;
	struct error err = {0};

	(void)state;
	assert_int_equal(tzif_parse(&tzif, file, sizeof(file) - 1, &err), 0);
	assert_string_equal(tzif.footer, "CET-1");
	assert_int_equal(tzif.first_offset, 3600);
	tzif_release(&tzif);
	for (size_t len = 0; len < sizeof(file) - 1; len++)
		assert_int_equal(tzif_parse(&tzif, file, len, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_hour_shown_twice_is_two_buckets),
		cmocka_unit_test(an_hour_that_is_skipped_is_no_bucket),
		cmocka_unit_test(a_change_of_half_an_hour_leaves_a_half_hour),
		cmocka_unit_test(hours_of_kathmandu_start_at_a_quarter_past),
		cmocka_unit_test(the_first_bucket_starts_where_the_range_does),
		cmocka_unit_test(a_day_without_midnight_starts_at_one),
		cmocka_unit_test(a_midnight_shown_twice_starts_one_day),
		cmocka_unit_test(a_date_that_never_was_is_no_bucket),
		cmocka_unit_test(weeks_start_on_monday),
		cmocka_unit_test(months_go_over_the_turn_of_the_year),
		cmocka_unit_test(the_rule_goes_on_after_the_files_last_change),
		cmocka_unit_test(too_many_buckets_are_refused),
		cmocka_unit_test(an_offset_of_odd_seconds_still_advances),
		cmocka_unit_test(the_bucket_of_an_instant_is_found),
		cmocka_unit_test(names_that_leave_the_directory_are_refused),
		cmocka_unit_test(names_of_no_zone_of_its_own_are_refused),
		cmocka_unit_test(utc_needs_no_file),
		cmocka_unit_test(days_of_the_calendar_go_round),
		cmocka_unit_test(days_and_hours_have_names),
		cmocka_unit_test(a_rule_with_negative_and_long_times_is_read),
		cmocka_unit_test(bad_rules_are_refused),
		cmocka_unit_test(a_file_cut_anywhere_is_refused),
	};

	return cmocka_run_group_tests_name("zone", tests, NULL, NULL);
}
