/* Times in access logs. */
#include "tests/unit/collector/access_world.h"

static void times_are_read_as_they_are_written(void **state)
{
	static const char *const texts[] = {
		"17/May/2015:10:05:03 +0000",
		"[17/May/2015:12:05:03 +0200]",
		"17/May/2015:01:35:03 -0830",
		"2015-05-17T10:05:03Z",
		"2015-05-17T10:05:03+00:00",
		"2015-05-17 12:05:03,000+0200",
		"2015-05-17T12:05:03.000+0200",
		"1431857103",
		"1431857103.000",
		"1431857103000",
		"1431857103000999",
		"1431857103000.25",
		"1431857103000999.75",
		"1431857103000999999",
		"1431857103000999999.5",
		"17/May/2015:10:05:03",
		"17/May/2015:10:05:03.000",
		"17/May/2015:12:05:03.000 +02:00",
		"2015-05-17 10:05:03",
		"2015-05-17T10:05:03",
		"2015/05/17 10:05:03",
		"2015-05-17T10:05:03.000999999Z",
		"2015-05-17 10:05:03 UTC",
		"2015-05-17 12:05:03 +0200",
		"2015-05-17 12:05:03+02",
		"Sun, 17 May 2015 10:05:03 GMT",
		"Sun May 17 10:05:03 2015",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct error err = {0};
		int64_t ms = 0;

		assert_int_equal(access_time_read(texts[i], strlen(texts[i]),
						  NULL, false, &ms, &err),
				 0);
		assert_int_equal(ms, MAY17);
	}
}

static void what_is_no_time_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"-",
		"17/Mai/2015:10:05:03 +0000",
		"32/May/2015:10:05:03 +0000",
		"17/May/2015:24:05:03 +0000",
		"17/May/2015:10:05:03 0000",
		"2015-13-17T10:05:03Z",
		"2015-05-17",
		"2015-02-29 10:05:03",
		"2015-05-17T10:05:03.",
		"2015-05-17 10:05:03 +25",
		"2015-05-17 10:05:03 CEST",
		"0",
		"99999999999",
		"1431857103x",
		"1431857103.x",
		"28621714206714206.1236",
		"31/Dec/1969:23:59:59 +0000",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct error err = {0};
		int64_t ms = 7;

		assert_int_equal(access_time_read(texts[i], strlen(texts[i]),
						  NULL, false, &ms, &err),
				 -1);
		assert_int_equal(err.code, ERROR_INPUT);
		assert_int_equal(ms, 7);
	}
}

static void check_time(const char *text, const char *pattern, int64_t want)
{
	struct error err = {0};
	int64_t ms = -1;
	int status =
		access_time_read(text, strlen(text), pattern, false, &ms, &err);

	assert_int_equal(status, want < 0 ? -1 : 0);
	assert_int_equal(err.code, want < 0 ? ERROR_INPUT : 0);
	assert_int_equal(ms, want);
}

/* Hours are seconds in 32 bits: the year 2162 would wrap around to 2026. */
static void no_time_is_later_than_hours_can_be(void **state)
{
	const int64_t max = CLOCK_REAL_MAX;

	(void)state;
	assert_true(max / CLOCK_SECOND <= UINT32_MAX);
	check_time("01/Jan/2100:00:00:00 +0000", NULL, max);
	check_time("4102444800", NULL, max);
	check_time("4102444800000", NULL, max);
	check_time("2100-01-01", "%Y-%m-%d", max);
	check_time("01/Jan/2100:00:00:01 +0000", NULL, -1);
	check_time("2100-01-01T00:00:00.001Z", NULL, -1);
	check_time("4102444800.001", NULL, -1);
	check_time("4102444800001", NULL, -1);
	check_time("4102444800001000", NULL, -1);
	check_time("2100-01-02", "%Y-%m-%d", -1);
	check_time("27/Dec/2162:16:33:16 +0000", NULL, -1);
}

static void times_may_have_blanks_where_nothing_is_around_them(void **state)
{
	static const struct {
		const char *format, *line;
	} cases[] = {
		{"$remote_addr $time_local $request_method $uri",
		 "8.8.8.8 17/May/2015:12:05:03 +0200 GET /abc"},
		{"$time_local $uri", "17/May/2015:10:05:03 +0000 /abc"},
		{"$time_iso8601 $remote_addr $uri",
		 "2015-05-17 10:05:03 8.8.8.8 /abc"},
		{"$time_iso8601 $remote_addr $uri",
		 "2015-05-17 12:05:03 +0200 8.8.8.8 /abc"},
		{"%{%Y-%m-%d %H:%M:%S}t %h %U",
		 "2015-05-17 10:05:03 8.8.8.8 /abc"},
		{"%{%d/%b/%Y %T %z}t %U", "17/May/2015 12:05:03 +0200 /abc"},
		{"$remote_addr,$time_local,$uri",
		 "8.8.8.8,17/May/2015:10:05:03 +0000,/abc"},
		{"$uri $time_local", "/abc 17/May/2015:10:05:03 +0000"},
		{"$msec $remote_addr $uri", "1431857103.000 8.8.8.8 /abc"},
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		read_line(w, cases[i].format, cases[i].line);
		assert_int_equal(w->v.time_ms, MAY17);
		assert_text(w->v.path, "/abc");
	}
}

static void a_time_without_a_zone_is_of_the_one_that_is_set(void **state)
{
	struct world *w = *state;

	setenv("TZ", "XXX-2", 1);
	tzset();
	w->rules.local_times = true;
	read_line(w, "$time_local $uri", "17/May/2015:12:05:03 /abc");
	assert_int_equal(w->v.time_ms, MAY17);
	read_line(w, "$time_local $uri", "17/May/2015:10:05:03 +0000 /abc");
	assert_int_equal(w->v.time_ms, MAY17);
	unsetenv("TZ");
	tzset();
	w->rules.local_times = false;
	read_line(w, "$time_local $uri", "17/May/2015:10:05:03 /abc");
	assert_int_equal(w->v.time_ms, MAY17);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ACCESS_TEST(times_are_read_as_they_are_written),
		ACCESS_TEST(what_is_no_time_is_refused),
		ACCESS_TEST(no_time_is_later_than_hours_can_be),
		ACCESS_TEST(times_may_have_blanks_where_nothing_is_around_them),
		ACCESS_TEST(a_time_without_a_zone_is_of_the_one_that_is_set),
	};

	return cmocka_run_group_tests_name("access_times", tests, NULL, NULL);
}
