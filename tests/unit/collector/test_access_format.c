/* Formats of access logs: what a line says of a visit, and what is refused. */
#include "tests/unit/collector/access_world.h"

static const struct access_rules none;

static void combined_says_all_of_a_visit(void **state)
{
	struct world *w = *state;

	read_line(w, "combined", COMBINED_LINE);
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
		read_line(w, "auto", cases[i].line);
		assert_string_equal(access_format_name(w->f), cases[i].name);
		assert_int_equal(w->v.time_ms, MAY17);
	}
}

static void a_virtual_hosts_name_is_the_domain(void **state)
{
	struct world *w = *state;

	read_line(w, "auto", "go.example:443 " COMBINED_LINE);
	assert_text(w->v.host, "go.example");
	assert_ip(w, "\xc0\x00\x02\x07", 4);
}

static void escapes_are_undone(void **state)
{
	struct world *w = *state;

	read_line(w, "combined",
		  COMMON_LINE
		  " \"a\\\"b\\x22c\\\\d\\te\\qf\" \"\\xc3\\xa9\\x5C\"");
	assert_text(w->v.referrer, "a\"b\"c\\d\te\\qf");
	assert_text(w->v.user_agent, "\xc3\xa9\\");
}

static void a_dash_is_nothing(void **state)
{
	struct world *w = *state;

	read_line(w, "combined", COMMON_LINE " \"-\" \"\"");
	assert_text(w->v.referrer, "");
	assert_text(w->v.user_agent, "");
}

static void a_users_name_may_have_blanks(void **state)
{
	struct world *w = *state;

	read_line(w, "combined",
		  "192.0.2.7 - ann b. c [17/May/2015:10:05:03 +0000] \"GET "
		  "/x\" 1 "
		  "- \"-\" \"-\"");
	assert_text(w->v.path, "/x");
}

static void formats_of_apache_are_understood(void **state)
{
	struct world *w = *state;

	read_line(
		w,
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

	read_line(w,
		  "$remote_addr - $remote_user [$time_local] \"$request\" "
		  "$status "
		  "$body_bytes_sent \"$http_referer\" \"$http_user_agent\" "
		  "\"$http_x_forwarded_for\" rt=${request_time}s",
		  COMBINED_LINE " \"10.0.0.1\" rt=0.1s");
	assert_int_equal(w->v.time_ms, MAY17);
	assert_text(w->v.user_agent, "curl/8 (x)");
	read_line(w, "$msec $request_method $host $request_uri",
		  "1431857103.250 HEAD go.example /abc?x=y");
	assert_int_equal(w->v.time_ms, MAY17 + 250);
	assert_text(w->v.method, "HEAD");
	assert_text(w->v.query, "x=y");
}

static void json_keys_may_have_other_names(void **state)
{
	struct world *w = *state;

	w->keys = "time=when,address=peer.ip,uri=what";
	read_line(w, "json",
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

static void a_status_that_there_is_not_is_no_answer(void **state)
{
	static const char *const texts[] = {"-", "0", "000", "-1"};
	struct world *w = *state;
	char line[100];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		snprintf(line, sizeof(line), "1431857103 %s /abc", texts[i]);
		read_line(w, "$msec $status $uri", line);
		assert_true(w->v.unanswered);
		assert_int_equal(w->v.status, 0);
	}
	read_line(w, "$msec $uri", "1431857103 /abc");
	assert_false(w->v.unanswered);
}

static void names_that_are_not_understood_are_told(void **state)
{
	struct world *w = *state;
	struct buf names = {0};

	read_line(w, "$msec $remote_adr $uri $body_bytes_sent",
		  "1431857103 8.8.8.8 /abc 5");
	access_format_put_unknown(w->f, &names);
	assert_string_equal(buf_cstr(&names), "$remote_adr, $body_bytes_sent");
	buf_reset(&names);
	read_line(w, "json",
		  "{\"ts\":1431857103,\"uri\":\"/"
		  "abc\",\"who\":{\"adr\":\"8.8.8.8\"},"
		  "\"a\\u001bb\":[]}");
	access_format_put_unknown(w->f, &names);
	assert_string_equal(buf_cstr(&names), "who.adr, a\\x1bb");
	buf_free(&names);
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
		assert_int_equal(try_read_line(w, "combined", cases[i].line),
				 -1);
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
		read_line(w, "combined", line);
		assert_text(w->v.path, "");
	}
}

static void a_whole_url_in_a_request_is_a_path(void **state)
{
	struct world *w = *state;

	read_line(w, "$msec \"$request\"",
		  "1431857103 \"GET http://go.example/abc?u=http://b/ "
		  "HTTP/1.1\"");
	assert_text(w->v.path, "/abc");
	assert_text(w->v.query, "u=http://b/");
	read_line(w, "$msec \"$request\"",
		  "1431857103 \"GET /a b c HTTP/1.0\"");
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

		assert_null(access_format_new(formats[i], NULL, &none, &err));
		assert_int_equal(err.code, ERROR_USAGE);
	}
}

static void a_field_that_there_is_not_is_refused(void **state)
{
	static const char *const keys[] = {"when", "when=time", "time=", "="};

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct error err = {0};

		assert_null(access_format_new("json", keys[i], &none, &err));
		assert_int_equal(err.code, ERROR_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ACCESS_TEST(combined_says_all_of_a_visit),
		ACCESS_TEST(the_usual_formats_are_told_by_themselves),
		ACCESS_TEST(a_virtual_hosts_name_is_the_domain),
		ACCESS_TEST(escapes_are_undone),
		ACCESS_TEST(a_dash_is_nothing),
		ACCESS_TEST(a_users_name_may_have_blanks),
		ACCESS_TEST(formats_of_apache_are_understood),
		ACCESS_TEST(formats_of_nginx_are_understood),
		ACCESS_TEST(json_keys_may_have_other_names),
		ACCESS_TEST(a_status_that_there_is_not_is_no_answer),
		ACCESS_TEST(names_that_are_not_understood_are_told),
		ACCESS_TEST(what_is_no_line_is_refused_with_its_column),
		ACCESS_TEST(what_was_no_request_has_no_path),
		ACCESS_TEST(a_whole_url_in_a_request_is_a_path),
		ACCESS_TEST(what_is_no_format_is_refused),
		ACCESS_TEST(a_field_that_there_is_not_is_refused),
	};

	return cmocka_run_group_tests_name("access_format", tests, NULL, NULL);
}
