#include "tests/unit/unit.h"

#include <time.h>

#include "common/clock.h"

static void durations_round_trip_in_their_shortest_form(void **state)
{
	static const struct {
		const char *given, *written;
		int64_t ms;
	} cases[] = {
		{"10d", "10d", 10 * CLOCK_DAY},
		{"48h", "2d", 2 * CLOCK_DAY},
		{"90s", "90s", 90000},
		{"250ms", "250ms", 250},
		{"0s", "0s", 0},
		{"never", "never", DURATION_NEVER},
	};
	char text[DURATION_TEXT_MAX];
	struct error err = {0};
	int64_t ms;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(duration_parse(cases[i].given, &ms, &err), 0);
		assert_int_equal(ms, cases[i].ms);
		assert_string_equal(duration_format(ms, text),
				    cases[i].written);
	}
}

static void what_is_no_duration_is_refused(void **state)
{
	static const char *const bad[] = {
		"",	"10",	"d",
		"-1s",	"1.5h", "1w",
		"10 d", "1sec", "99999999999999999999d",
		"Never"};
	struct error err = {0};
	int64_t ms = 42;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(duration_parse(bad[i], &ms, &err), -1);
		assert_int_equal(err.code, ERROR_INPUT);
	}
	assert_int_equal(ms, 42);
}

static void what_clocks_are_apart_is_told(void **state)
{
	static const struct {
		int64_t ms;
		const char *text;
		bool apart;
	} cases[] = {
		{3 * CLOCK_DAY - 12, "3d ahead of", true},
		{-2 * CLOCK_HOUR - 999, "2h behind", true},
		{-400499, "400s behind", true},
		{CLOCK_APART_MAX, "5m ahead of", false},
		{-CLOCK_APART_MAX - 1, "5m behind", true},
	};
	char text[CLOCK_APART_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_string_equal(clock_apart_format(cases[i].ms, text),
				    cases[i].text);
		assert_int_equal(clock_is_apart(cases[i].ms), cases[i].apart);
	}
}

static void times_are_read_with_their_offset(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
	} cases[] = {
		{"1970-01-01T00:00:00Z", 0},
		{"2026-11-21", INT64_C(1795219200000)},
		{"2026-11-21T05:30:00+05:30", INT64_C(1795219200000)},
		{"2026-11-20T19:00:00.250-05:00", INT64_C(1795219200250)},
		{"2024-02-29T00:00:00Z", INT64_C(1709164800000)},
	};
	struct error err = {0};
	int64_t ms;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(rfc3339_parse(cases[i].text, &ms, &err), 0);
		assert_int_equal(ms, cases[i].ms);
	}
}

static void days_that_do_not_exist_are_refused(void **state)
{
	static const char *const bad[] = {"2026-02-30",
					  "2025-02-29T00:00:00Z",
					  "2026-13-01",
					  "2026-11-21T24:00:00Z",
					  "2026-11-21T00:00:00",
					  "2026-11-21T00:00:00+5:30",
					  "2026-11-21T00:00:00Zx",
					  "yesterday",
					  ""};
	struct error err = {0};
	int64_t ms;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(rfc3339_parse(bad[i], &ms, &err), -1);
}

static void a_time_is_written_with_ms_only_when_it_has_some(void **state)
{
	char text[RFC3339_TEXT_MAX];

	(void)state;
	assert_string_equal(rfc3339_format(INT64_C(1795219200000), text),
			    "2026-11-21T00:00:00Z");
	assert_string_equal(rfc3339_format(INT64_C(1795219200007), text),
			    "2026-11-21T00:00:00.007Z");
	assert_string_equal(rfc3339_format(-1, text),
			    "1969-12-31T23:59:59.999Z");
}

/* Checks every few days from year 0 to 9999, including leap days. */
static void instants_are_written_as_the_c_library_counts_them(void **state)
{
	const int64_t first = INT64_C(-62167219200);
	const int64_t last = INT64_C(253402300799);
	char text[RFC3339_TEXT_MAX], expected[64];
	time_t seconds;
	struct tm tm;

	(void)state;
	for (int64_t at = first; at <= last; at += 86400 * 3 + 7919) {
		seconds = (time_t)at;
		gmtime_r(&seconds, &tm);
		snprintf(expected, sizeof(expected),
			 "%04d-%02d-%02dT%02d:%02d:%02dZ", tm.tm_year + 1900,
			 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
			 tm.tm_sec);
		assert_string_equal(rfc3339_format(at * 1000, text), expected);
	}
	assert_string_equal(rfc3339_format(last * 1000 + 999, text),
			    "9999-12-31T23:59:59.999Z");
	assert_string_equal(rfc3339_format(last * 1000 + 1000, text), "never");
	assert_string_equal(rfc3339_format(first * 1000 - 1, text), "never");
	assert_string_equal(rfc3339_format(INT64_MAX, text), "never");
	assert_string_equal(rfc3339_format(INT64_MIN, text), "never");
}

static void whole_seconds_are_rounded_up(void **state)
{
	(void)state;
	assert_int_equal(clock_whole_seconds(-1), 0);
	assert_int_equal(clock_whole_seconds(0), 0);
	assert_int_equal(clock_whole_seconds(1), 1);
	assert_int_equal(clock_whole_seconds(999), 1);
	assert_int_equal(clock_whole_seconds(1000), 1);
	assert_int_equal(clock_whole_seconds(1001), 2);
	assert_int_equal(clock_whole_seconds(INT64_MAX), INT64_MAX / 1000 + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_round_trip_in_their_shortest_form),
		cmocka_unit_test(what_is_no_duration_is_refused),
		cmocka_unit_test(what_clocks_are_apart_is_told),
		cmocka_unit_test(times_are_read_with_their_offset),
		cmocka_unit_test(days_that_do_not_exist_are_refused),
		cmocka_unit_test(
			a_time_is_written_with_ms_only_when_it_has_some),
		cmocka_unit_test(
			instants_are_written_as_the_c_library_counts_them),
		cmocka_unit_test(whole_seconds_are_rounded_up),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
