#include "tests/unit/unit.h"

#include <string.h>

#include "collector/tools/access_log/access_format.h"
#include "collector/tools/access_log/access_time.h"
#include "common/clock.h"

#define MAY17 INT64_C(1431857103000) /* 2015-05-17 10:05:03 UTC */

struct world {
	struct access_format *f;
	struct access_visit v;
	struct error err;
	const char *keys;
};

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct world));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct world *w = *state;

	access_format_free(w->f);
	free(w);
	return 0;
}

/* The line is copied to where not a byte more may be read. */
static int try(struct world *w, const char *format, const char *line)
{
	static char *copy;
	int status;

	access_format_free(w->f);
	w->err = (struct error){0};
	w->f = access_format_new(format, w->keys, &w->err);
	assert_string_equal(w->err.text, "");
	free(copy);
	copy = malloc(strlen(line) + 1);
	memcpy(copy, line, strlen(line));
	status = access_format_read(w->f, copy, strlen(line), &w->v, &w->err);
	return status;
}

static void reads(struct world *w, const char *format, const char *line)
{
	int status = try(w, format, line);

	assert_string_equal(w->err.text, "");
	assert_int_equal(status, 0);
}

static void assert_text(struct access_text t, const char *expected)
{
	assert_int_equal(t.len, strlen(expected));
	assert_true(!t.len || !memcmp(t.data, expected, t.len));
}

static void assert_ip(const struct world *w, const char *bytes, size_t len)
{
	assert_int_equal(w->v.ip_len, len);
	assert_memory_equal(w->v.ip, bytes, len);
}

#define COMMON_LINE                                                            \
	"192.0.2.7 - ann [17/May/2015:10:05:03 +0000] "                        \
	"\"GET /abc?x=y HTTP/1.1\" 302 154"
#define COMBINED_LINE COMMON_LINE " \"https://a.example/\" \"curl/8 (x)\""

static void combined_says_all_of_a_visit(void **state)
{
	struct world *w = *state;

	reads(w, "combined", COMBINED_LINE);
	assert_int_equal(w->v.time_ms, MAY17);
	assert_ip(w, "\xc0\x00\x02\x07", 4);
	assert_text(w->v.method, "GET");
	assert_text(w->v.path, "/abc");
	assert_text(w->v.query, "x=y");
	assert_int_equal(w->v.status, 302);
	assert_text(w->v.referrer, "https://a.example/");
	assert_text(w->v.user_agent, "curl/8 (x)");
}

static void the_usual_formats_are_told_by_themselves(void **state)
{
	static const struct {
		const char *line, *name;
	} cases[] = {
		{COMMON_LINE, "common"},
		{COMBINED_LINE, "combined"},
		{COMBINED_LINE " 0.003 \"-\"", "combined"},
		{"go.example:443 " COMBINED_LINE, "vhost_combined"},
		{"2001:db8::1 - - [17/May/2015:10:05:03 +0000] \"GET /a\" 200 "
		 "- "
		 "\"-\" \"-\"",
		 "combined"},
		{"{\"remote_addr\":\"192.0.2.7\",\"msec\":1431857103.000,"
		 "\"request\":\"GET /abc HTTP/1.1\"}",
		 "json"},
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		reads(w, "auto", cases[i].line);
		assert_string_equal(access_format_name(w->f), cases[i].name);
		assert_int_equal(w->v.time_ms, MAY17);
	}
}

static void a_virtual_hosts_name_is_the_domain(void **state)
{
	struct world *w = *state;

	reads(w, "auto", "go.example:443 " COMBINED_LINE);
	assert_text(w->v.host, "go.example");
	assert_ip(w, "\xc0\x00\x02\x07", 4);
}

static void escapes_are_undone(void **state)
{
	struct world *w = *state;

	reads(w, "combined",
	      COMMON_LINE " \"a\\\"b\\x22c\\\\d\\te\\qf\" \"\\xc3\\xa9\\x5C\"");
	assert_text(w->v.referrer, "a\"b\"c\\d\te\\qf");
	assert_text(w->v.user_agent, "\xc3\xa9\\");
}

static void a_dash_is_nothing(void **state)
{
	struct world *w = *state;

	reads(w, "combined", COMMON_LINE " \"-\" \"\"");
	assert_text(w->v.referrer, "");
	assert_text(w->v.user_agent, "");
}

static void a_users_name_may_have_blanks(void **state)
{
	struct world *w = *state;

	reads(w, "combined",
	      "192.0.2.7 - ann b. c [17/May/2015:10:05:03 +0000] \"GET /x\" 1 "
	      "- \"-\" \"-\"");
	assert_text(w->v.path, "/x");
}

static void formats_of_apache_are_understood(void **state)
{
	struct world *w = *state;

	reads(w,
	      "%{%d.%m.%Y %H:%M:%S %z}t|%a|%m|%U%%|%q|%!200,304>s|%{Host}i|"
	      "\\\"%{Accept-Language}i\\\"|%{sec-purpose}i|%D",
	      "17.05.2015 12:05:03 +0200|::ffff:192.0.2.7|GET|/abc%|?x=y|404|"
	      "go.example:8080|\"de,en\"|prefetch|12345");
	assert_int_equal(w->v.time_ms, MAY17);
	assert_ip(w, "\xc0\x00\x02\x07", 4);
	assert_text(w->v.path, "/abc");
	assert_text(w->v.query, "x=y");
	assert_int_equal(w->v.status, 404);
	assert_text(w->v.host, "go.example:8080");
	assert_text(w->v.language, "de,en");
	assert_text(w->v.purpose, "prefetch");
}

static void formats_of_nginx_are_understood(void **state)
{
	struct world *w = *state;

	reads(w,
	      "$remote_addr - $remote_user [$time_local] \"$request\" $status "
	      "$body_bytes_sent \"$http_referer\" \"$http_user_agent\" "
	      "\"$http_x_forwarded_for\" rt=${request_time}s",
	      COMBINED_LINE " \"10.0.0.1\" rt=0.1s");
	assert_int_equal(w->v.time_ms, MAY17);
	assert_text(w->v.user_agent, "curl/8 (x)");
	reads(w, "$msec $request_method $host $request_uri",
	      "1431857103.250 HEAD go.example /abc?x=y");
	assert_int_equal(w->v.time_ms, MAY17 + 250);
	assert_text(w->v.method, "HEAD");
	assert_text(w->v.query, "x=y");
}

static void json_keys_may_have_other_names(void **state)
{
	struct world *w = *state;

	w->keys = "time=when,address=peer.ip,uri=what";
	reads(w, "json",
	      "{\"when\":1431857103000,\"peer\":{\"ip\":\"2001:db8::1\"},"
	      "\"what\":\"/abc?x=y\",\"status\":302,\"time\":\"no\","
	      "\"http_user_agent\":\"a\\u00e9\xff\"}");
	assert_int_equal(w->v.time_ms, MAY17);
	assert_int_equal(w->v.ip_len, 16);
	assert_text(w->v.path, "/abc");
	assert_text(w->v.query, "x=y");
	assert_int_equal(w->v.status, 302);
	assert_text(w->v.user_agent, "a\xc3\xa9?");
}

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
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct error err = {0};
		int64_t ms = 0;

		assert_int_equal(access_time_read(texts[i], strlen(texts[i]),
						  NULL, &ms, &err),
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
		"2015-05-17T10:05:03",
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
						  NULL, &ms, &err),
				 -1);
		assert_int_equal(err.code, ERROR_INPUT);
		assert_int_equal(ms, 7);
	}
}

static void check_time(const char *text, const char *pattern, int64_t want)
{
	struct error err = {0};
	int64_t ms = -1;
	int status = access_time_read(text, strlen(text), pattern, &ms, &err);

	assert_int_equal(status, want < 0 ? -1 : 0);
	assert_int_equal(err.code, want < 0 ? ERROR_INPUT : 0);
	assert_int_equal(ms, want);
}

/* Hours are seconds in 32 bits: 2162 would be 2026. */
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

static void what_is_no_line_is_refused_with_its_column(void **state)
{
	static const struct {
		const char *line, *reason;
	} cases[] = {
		{"", "column 1: expected ' ', but the line ends"},
		{"192.0.2.7 - -",
		 "column 14: expected ' [', but the line ends"},
		{"192.0.2.7 - - [17/May/2015:10:05:03 +0000] GET /",
		 "column 49: expected '] \"', but the line ends"},
		{"192.0.2.7 - - [yesterday] \"GET /\" 200 1 \"-\" \"-\"",
		 "not a time: 'yesterday'"},
		{"192.0.2.7 - - [17/May/2015:10:05:03 +0000] \"GET /\" abc 1 "
		 "\"-\" \"-\"",
		 "not a status: 'abc'"},
		{COMMON_LINE " \"-\" \"cut off",
		 "column 90: expected '\"', but the line ends"},
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(try(w, "combined", cases[i].line), -1);
		assert_int_equal(w->err.code, ERROR_INPUT);
		assert_string_equal(w->err.text, cases[i].reason);
	}
}

static void what_was_no_request_has_no_path(void **state)
{
	static const char *const requests[] = {
		"-",	 "", "\\x16\\x03\\x01", "GET", "OPTIONS * HTTP/1.1",
		"x y z",
	};
	struct world *w = *state;
	char line[256];

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		snprintf(
			line, sizeof(line),
			"192.0.2.7 - - [17/May/2015:10:05:03 +0000] \"%s\" 400 "
			"0 \"-\" \"-\"",
			requests[i]);
		reads(w, "combined", line);
		assert_text(w->v.path, "");
	}
}

static void a_whole_url_in_a_request_is_a_path(void **state)
{
	struct world *w = *state;

	reads(w, "$msec \"$request\"",
	      "1431857103 \"GET http://go.example/abc?u=http://b/ HTTP/1.1\"");
	assert_text(w->v.path, "/abc");
	assert_text(w->v.query, "u=http://b/");
	reads(w, "$msec \"$request\"", "1431857103 \"GET /a b c HTTP/1.0\"");
	assert_text(w->v.path, "/a b c");
}

static void what_is_no_format_is_refused(void **state)
{
	static const char *const formats[] = {
		"nonsense",
		"%h",
		"%t %h",
		"%t %h%r",
		"%{Referer %t",
		"%t %r %",
		"$time_local",
		"$msec$request",
		"$msec ${request",
		"$msec $",
		"%{%H}t %{%M}t %r",

	};

	(void)state;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct error err = {0};

		assert_null(access_format_new(formats[i], NULL, &err));
		assert_true(err.code == ERROR_USAGE || err.code == ERROR_USAGE);
	}
}

static void a_field_that_there_is_not_is_refused(void **state)
{
	static const char *const keys[] = {"when", "when=time", "time=", "="};

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct error err = {0};

		assert_null(access_format_new("json", keys[i], &err));
		assert_int_equal(err.code, ERROR_USAGE);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(combined_says_all_of_a_visit),
		TEST(the_usual_formats_are_told_by_themselves),
		TEST(a_virtual_hosts_name_is_the_domain),
		TEST(escapes_are_undone),
		TEST(a_dash_is_nothing),
		TEST(a_users_name_may_have_blanks),
		TEST(formats_of_apache_are_understood),
		TEST(formats_of_nginx_are_understood),
		TEST(json_keys_may_have_other_names),
		TEST(times_are_read_as_they_are_written),
		TEST(what_is_no_time_is_refused),
		TEST(no_time_is_later_than_hours_can_be),
		TEST(what_is_no_line_is_refused_with_its_column),
		TEST(what_was_no_request_has_no_path),
		TEST(a_whole_url_in_a_request_is_a_path),
		TEST(what_is_no_format_is_refused),
		TEST(a_field_that_there_is_not_is_refused),
	};

	return cmocka_run_group_tests_name("access_format", tests, NULL, NULL);
}
