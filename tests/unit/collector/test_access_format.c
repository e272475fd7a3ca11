#include "tests/unit/unit.h"

#include <string.h>
#include <time.h>

#include "collector/tools/access_log/access_format.h"
#include "collector/tools/access_log/access_time.h"
#include "common/clock.h"

#define MAY17 INT64_C(1431857103000) /* 2015-05-17 10:05:03 UTC */

static const struct access_rules none;

struct world {
	struct access_format *f;
	struct access_visit v;
	struct error err;
	const char *keys;
	struct access_rules rules;
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

/* The line is copied to a block of its exact size, so that a sanitizer reports
 * any read beyond it. */
static int try(struct world *w, const char *format, const char *line)
{
	static char *copy;
	int status;

	access_format_free(w->f);
	w->err = (struct error){0};
	w->f = access_format_new(format, w->keys, &w->rules, &w->err);
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

/* --- addresses -------------------------------------------------------------
 */

#define FIRST  "\xcb\x00\x71\x0c" /* 203.0.113.12 */
#define SECOND "\xc6\x33\x64\x07" /* 198.51.100.7 */
#define SIX    "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"

static void addresses_are_read_in_all_their_forms(void **state)
{
	static const struct {
		const char *text, *bytes;
		size_t len;
	} cases[] = {
		{"203.0.113.12", FIRST, 4},
		{"203.0.113.12:51234", FIRST, 4},
		{"203.0.113.12, 198.51.100.7", FIRST, 4},
		{"203.0.113.12,198.51.100.7", FIRST, 4},
		{"10.0.0.1, 203.0.113.12, 198.51.100.7", FIRST, 4},
		{"unknown, 203.0.113.12", FIRST, 4},
		{"evil<>, 203.0.113.12:80", FIRST, 4},
		{"10.0.0.1, 192.168.0.1", "\x0a\x00\x00\x01", 4},
		{"::ffff:203.0.113.12", FIRST, 4},
		{"[::ffff:203.0.113.12]:80", FIRST, 4},
		{"[2001:db8::1]:443", SIX, 16},
		{"[2001:db8::1]", SIX, 16},
		{"2001:db8::1", SIX, 16},
		{"\\\"[2001:db8::1]\\\"", SIX, 16},
		{"2001:db8::1%eth0", SIX, 16},
		{"[2001:db8::1%25eth0]:443", SIX, 16},
		{"for=203.0.113.12;proto=https;by=198.51.100.7", FIRST, 4},
		{"For=\\\"[2001:db8::1]:443\\\", for=198.51.100.7", SIX, 16},
		{"for=unknown, for=203.0.113.12", FIRST, 4},
		{"for=_hidden;host=a, for=203.0.113.12", FIRST, 4},
		{"-", NULL, 0},
		{"", NULL, 0},
		{"unknown", NULL, 0},
		{"_hidden", NULL, 0},
		{"unix:", NULL, 0},
		{"for=unknown", NULL, 0},
	};
	struct world *w = *state;
	char line[300];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(line, sizeof(line), "1431857103 \"%s\" /abc",
			 cases[i].text);
		for (int field = 0; field < 3; field++) {
			static const char *const formats[] = {
				"$msec \"$remote_addr\" $uri",
				"$msec \"$http_x_forwarded_for\" $uri",
				"$msec \"$http_cf_connecting_ip\" $uri"};

			reads(w, formats[field], line);
			assert_int_equal(w->v.ip_len, cases[i].len);
			assert_memory_equal(w->v.ip, cases[i].bytes,
					    cases[i].len);
		}
	}
}

static void a_list_without_quotes_is_one_field(void **state)
{
	struct world *w = *state;

	reads(w,
	      "$http_x_forwarded_for - $remote_user [$time_local] \"$request\"",
	      "203.0.113.12, 198.51.100.7 - - [17/May/2015:10:05:03 +0000] "
	      "\"GET /abc HTTP/1.1\"");
	assert_ip(w, FIRST, 4);
	assert_text(w->v.path, "/abc");
	/* The same holds where the header has the place of %h. */
	reads(w, "auto",
	      "203.0.113.12, 198.51.100.7 - - "
	      "[17/May/2015:10:05:03 +0000] \"GET /abc HTTP/1.1\" 302 1 \"-\" "
	      "\"curl/8\"");
	assert_string_equal(access_format_name(w->f), "combined");
	assert_ip(w, FIRST, 4);
	reads(w, "%h:%p %t \"%r\"",
	      "2001:db8::1:443 [17/May/2015:10:05:03 +0000] "
	      "\"GET /abc HTTP/1.1\"");
	assert_ip(w, SIX, 16);
}

static void what_is_no_address_is_not_taken_for_none(void **state)
{
	static const char *const texts[] = {
		"go.example",	   "203.0.113",	   "203.0.113.256",
		"203.0.113.12:x",  "[2001:db8::1", "2001:db8::1::2",
		"203.0.113.12/24", "0xcb00710c",   "localhost",
	};
	struct world *w = *state;
	char line[200];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		snprintf(line, sizeof(line), "1431857103 %s /abc", texts[i]);
		w->rules.any_address = false;
		assert_int_equal(try(w, "$msec $remote_addr $uri", line), -1);
		assert_int_equal(w->err.code, ERROR_INPUT);
		assert_non_null(strstr(w->err.text, texts[i]));
		assert_int_equal(
			try(w, "$msec $http_x_forwarded_for $uri", line), -1);
		assert_int_equal(try(w, "$msec $http_x_real_ip $uri", line),
				 -1);
		w->rules.any_address = true;
		reads(w, "$msec $remote_addr $uri", line);
		assert_int_equal(w->v.ip_len, 0);
	}
}

static void whom_a_proxy_names_comes_before_the_peer(void **state)
{
	static const struct {
		const char *client, *forwarded, *peer, *bytes;
	} cases[] = {
		{"-", "203.0.113.12", "198.51.100.7", FIRST},
		{"-", "-", "203.0.113.12", FIRST},
		{"203.0.113.12", "192.0.2.7", "198.51.100.7", FIRST},
		{"-", "10.0.0.1", "203.0.113.12", FIRST},
		{"-", "evil", "203.0.113.12", FIRST},
		{"evil", "203.0.113.12", "198.51.100.7", FIRST},
	};
	struct world *w = *state;
	char line[200];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(line, sizeof(line), "1431857103 %s %s %s /abc",
			 cases[i].client, cases[i].forwarded, cases[i].peer);
		reads(w,
		      "%{sec}t %{CF-Connecting-IP}i %{X-Forwarded-For}i %h %U",
		      line);
		assert_ip(w, cases[i].bytes, 4);
	}
	assert_int_equal(w->v.odd_client.len, 0);
	reads(w, "%{sec}t %{X-Forwarded-For}i %h %U",
	      "1431857103 evil 203.0.113.12 /abc");
	assert_text(w->v.odd_client, "evil");
	w->rules.peer_only = true;
	reads(w, "%{sec}t %{X-Forwarded-For}i %h %U",
	      "1431857103 203.0.113.12 198.51.100.7 /abc");
	assert_ip(w, SECOND, 4);
}

/* The result is the same as in redirector/request_info.c
 * (common/client_address.c). */
static void proxies_that_are_known_are_read_from_the_right(void **state)
{
	static const struct {
		const char *forwarded, *peer, *bytes;
	} cases[] = {
		{"192.0.2.1, 203.0.113.12, 10.0.0.2", "10.0.0.1", FIRST},
		{"192.0.2.1", "203.0.113.12", FIRST},
		{"evil, 203.0.113.12", "10.0.0.1", FIRST},
		{"for=192.0.2.1, for=\\\"203.0.113.12:80\\\"", "10.0.0.1",
		 FIRST},
		{"192.0.2.1, 203.0.113.12, 10.0.0.2", "-", FIRST},
		{"192.0.2.1, 203.0.113.12", "-", FIRST},
	};
	char *items[] = {(char[]){"10.0.0.0/8"}};
	const struct setting_strings networks = {items, 1};
	struct world *w = *state;
	struct network_list *list =
		network_list_new(&networks, "proxies", &w->err);
	char line[200];

	w->rules.proxies = list;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(line, sizeof(line), "1431857103 \"%s\" %s /abc",
			 cases[i].forwarded, cases[i].peer);
		reads(w, "$msec \"$http_x_forwarded_for\" $remote_addr $uri",
		      line);
		assert_ip(w, cases[i].bytes, 4);
	}
	reads(w, "$msec $http_cf_connecting_ip $remote_addr $uri",
	      "1431857103 192.0.2.1 203.0.113.12 /abc");
	assert_ip(w, FIRST, 4);
	network_list_free(list);
}

static void a_status_that_there_is_not_is_no_answer(void **state)
{
	static const char *const texts[] = {"-", "0", "000", "-1"};
	struct world *w = *state;
	char line[100];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		snprintf(line, sizeof(line), "1431857103 %s /abc", texts[i]);
		reads(w, "$msec $status $uri", line);
		assert_true(w->v.unanswered);
		assert_int_equal(w->v.status, 0);
	}
	reads(w, "$msec $uri", "1431857103 /abc");
	assert_false(w->v.unanswered);
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
		reads(w, cases[i].format, cases[i].line);
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
	reads(w, "$time_local $uri", "17/May/2015:12:05:03 /abc");
	assert_int_equal(w->v.time_ms, MAY17);
	reads(w, "$time_local $uri", "17/May/2015:10:05:03 +0000 /abc");
	assert_int_equal(w->v.time_ms, MAY17);
	unsetenv("TZ");
	tzset();
	w->rules.local_times = false;
	reads(w, "$time_local $uri", "17/May/2015:10:05:03 /abc");
	assert_int_equal(w->v.time_ms, MAY17);
}

static void names_that_are_not_understood_are_told(void **state)
{
	struct world *w = *state;
	struct buf names = {0};

	reads(w, "$msec $remote_adr $uri $body_bytes_sent",
	      "1431857103 8.8.8.8 /abc 5");
	access_format_put_unknown(w->f, &names);
	assert_string_equal(buf_cstr(&names), "$remote_adr, $body_bytes_sent");
	buf_reset(&names);
	reads(w, "json",
	      "{\"ts\":1431857103,\"uri\":\"/"
	      "abc\",\"who\":{\"adr\":\"8.8.8.8\"},"
	      "\"a\\u001bb\":[]}");
	access_format_put_unknown(w->f, &names);
	assert_string_equal(buf_cstr(&names), "who.adr, a\\x1bb");
	buf_free(&names);
}

/* --- servers' own formats --------------------------------------------------
 */

#define CLF	"203.0.113.12 - - [17/May/2015:10:05:03 +0000] "
#define REQUEST "\"GET /abc?x=y HTTP/1.1\""
#define ENDING	" \"https://a.example/\" \"Mozilla/5.0 (X)\""
#define TRACE	"\"Root=1-58337262-36d228ad5d99923122bbe354\""

/* Formats of servers that no test can run are from their documentation;
 * test_import_servers.py also has lines that the other servers wrote
 * themselves. */
static const struct {
	const char *name;  /* --format */
	const char *found; /* the format that auto detects */
	const char *head;  /* a line before it, or NULL */
	const char *line;
	const char *agent, *host;
} servers[] = {
	{"nginx", "combined", NULL, CLF REQUEST " 302 138" ENDING,
	 "Mozilla/5.0 (X)", ""},
	{"main", "main", NULL,
	 "10.0.0.1 - - [17/May/2015:10:05:03 +0000] " REQUEST " 302 138" ENDING
	 " \"203.0.113.12, 10.0.0.9\"",
	 "Mozilla/5.0 (X)", ""},
	{"apache", "combined", NULL, CLF REQUEST " 302 138" ENDING,
	 "Mozilla/5.0 (X)", ""},
	{"common", "common", NULL, CLF REQUEST " 302 138", "", ""},
	{"vhost_combined", "vhost_combined", NULL,
	 "go.example:443 " CLF REQUEST " 302 138" ENDING, "Mozilla/5.0 (X)",
	 "go.example"},
	{"vhost", "vhost", NULL, "go.example " CLF REQUEST " 302 138" ENDING,
	 "Mozilla/5.0 (X)", "go.example"},
	{"vhost_common", "vhost_common", NULL,
	 "go.example " CLF REQUEST " 302 138", "", "go.example"},
	{"lighttpd", "lighttpd", NULL,
	 "203.0.113.12 go.example - [17/May/2015:10:05:03 +0000] " REQUEST
	 " 302 0" ENDING,
	 "Mozilla/5.0 (X)", "go.example"},
	{"haproxy", "haproxy", NULL,
	 "May 17 12:05:03 lb haproxy[14389]: 203.0.113.12:33317 "
	 "[17/May/2015:10:05:03.000] web~ static/srv1 10/0/30/69/109 302 2750 "
	 "- - ---- 1/1/1/1/0 0/0 {1wt.eu} {} " REQUEST,
	 "", ""},
	{"haproxy", "haproxy", NULL,
	 "2001:db8::1:33317 [17/May/2015:10:05:03.000] web static/srv1 "
	 "10/0/30/69/109 302 2750 - - ---- 1/1/1/1/0 0/0 " REQUEST,
	 "", ""},
	{"caddy", "json", NULL,
	 "{\"level\":\"info\",\"ts\":1431857103.000123,\"logger\":"
	 "\"http.log.access\",\"msg\":\"handled request\",\"request\":{"
	 "\"remote_ip\":\"10.0.0.1\",\"remote_port\":\"41342\",\"client_ip\":"
	 "\"203.0.113.12\",\"proto\":\"HTTP/2.0\",\"method\":\"GET\",\"host\":"
	 "\"go.example\",\"uri\":\"/abc?x=y\",\"headers\":{\"User-Agent\":["
	 "\"Mozilla/5.0 (X)\"],\"Referer\":[\"https://a.example/\"]}},"
	 "\"duration\":0.004,\"size\":0,\"status\":302,\"resp_headers\":{"
	 "\"Server\":[\"Caddy\"]}}",
	 "Mozilla/5.0 (X)", "go.example"},
	{"traefik", "combined", NULL,
	 CLF REQUEST " 302 34" ENDING
		     " 17 \"go@docker\" \"http://10.0.0.2:80\" 5ms",
	 "Mozilla/5.0 (X)", ""},
	{"traefik-json", "json", NULL,
	 "{\"ClientAddr\":\"203.0.113.12:51234\",\"ClientHost\":"
	 "\"203.0.113.12\",\"ClientPort\":\"51234\",\"DownstreamStatus\":302,"
	 "\"OriginStatus\":0,\"RequestHost\":\"go.example\",\"RequestMethod\":"
	 "\"GET\",\"RequestPath\":\"/abc?x=y\",\"StartUTC\":"
	 "\"2015-05-17T10:05:03.000123456Z\",\"level\":\"info\",\"msg\":\"\","
	 "\"request_User-Agent\":\"Mozilla/5.0 (X)\",\"request_Referer\":"
	 "\"https://a.example/\",\"time\":\"2015-05-17T10:05:09Z\"}",
	 "Mozilla/5.0 (X)", "go.example"},
	{"alb", "alb", NULL,
	 "https 2015-05-17T10:05:03.000186Z app/my/50dc6c495c0c9188 "
	 "203.0.113.12:2817 10.0.0.1:80 0.086 0.048 0.037 302 302 0 57 "
	 "\"GET https://www.example.com:443/abc?x=y HTTP/1.1\" "
	 "\"Mozilla/5.0 (X)\" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 "
	 "arn:aws:elasticloadbalancing:us-east-2:1:targetgroup/t/73e2 " TRACE
	 " \"go.example\" \"arn:aws:acm:us-east-2:1:certificate/1\" 1 "
	 "2015-05-17T10:05:02.186641Z \"authenticate,forward\" \"-\" \"-\" "
	 "\"10.0.0.1:80\" \"302\" \"-\" \"-\" TID_x",
	 "Mozilla/5.0 (X)", "go.example"},
	{"elb", "elb", NULL,
	 "2015-05-17T10:05:03.000945Z my-lb 203.0.113.12:2817 10.0.0.1:80 "
	 "0.000073 0.001048 0.000057 302 302 0 29 \"GET "
	 "http://www.example.com:80/abc?x=y HTTP/1.1\" \"Mozilla/5.0 (X)\" - "
	 "-",
	 "Mozilla/5.0 (X)", ""},
	{"cloudfront", "w3c",
	 "#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) "
	 "cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query "
	 "cs(Cookie) x-edge-result-type x-edge-request-id x-host-header "
	 "cs-protocol cs-bytes time-taken x-forwarded-for",
	 "2015-05-17\t10:05:03\tLAX1\t2390282\t203.0.113.12\tGET\t"
	 "d111111abcdef8.cloudfront.net\t/abc\t302\thttps://a.example/\t"
	 "Mozilla/5.0%20(X)\tx=y\t-\tHit\tSOX4xwn4XV6Q4rgb7XiVGO==\t"
	 "go.example\thttps\t23\t0.001\t-",
	 "Mozilla/5.0 (X)", "go.example"},
	{"iis", "w3c",
	 "#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port "
	 "cs-username c-ip cs(User-Agent) cs(Referer) cs-host sc-status "
	 "sc-substatus sc-win32-status time-taken",
	 "2015-05-17 10:05:03 10.0.0.1 GET /abc x=y 443 - 203.0.113.12 "
	 "Mozilla/5.0+(X) https://a.example/ go.example 302 0 0 15\r",
	 "Mozilla/5.0 (X)", "go.example"},
	{"s3", "s3", NULL,
	 "79a59df900b949e5 go-bucket [17/May/2015:10:05:03 +0000] 203.0.113.12 "
	 "- 3E57427F33A59F07 WEBSITE.GET.OBJECT abc " REQUEST
	 " 302 - - 113 7 -" ENDING " - s9lzHYrFp76ZVxRcpX9= - - - go.example -",
	 "Mozilla/5.0 (X)", ""},
	{"cloudflare", "json", NULL,
	 "{\"ClientIP\":\"203.0.113.12\",\"ClientRequestHost\":\"go.example\","
	 "\"ClientRequestMethod\":\"GET\",\"ClientRequestURI\":\"/abc?x=y\","
	 "\"ClientRequestReferer\":\"https://a.example/\","
	 "\"ClientRequestUserAgent\":\"Mozilla/5.0 (X)\","
	 "\"EdgeEndTimestamp\":1431857109000000000,\"EdgeResponseStatus\":302,"
	 "\"EdgeStartTimestamp\":1431857103000000000,\"RayID\":\"3a6b\"}",
	 "Mozilla/5.0 (X)", "go.example"},
	{"gcp", "json", NULL,
	 "{\"httpRequest\":{\"requestMethod\":\"GET\",\"requestUrl\":"
	 "\"https://go.example/abc?x=y\",\"status\":302,\"userAgent\":"
	 "\"Mozilla/5.0 (X)\",\"remoteIp\":\"203.0.113.12\",\"referer\":"
	 "\"https://a.example/\"},\"insertId\":\"1\",\"receiveTimestamp\":"
	 "\"2015-05-17T10:05:09Z\",\"timestamp\":"
	 "\"2015-05-17T10:05:03.000123456Z\"}",
	 "Mozilla/5.0 (X)", "go.example"},
	{"azure", "json", NULL,
	 "{\"time\":\"2015-05-17T10:05:03.0001234Z\",\"category\":"
	 "\"FrontDoorAccessLog\",\"properties\":{\"httpMethod\":\"GET\","
	 "\"requestUri\":\"https://go.example:443/abc?x=y\",\"clientIp\":"
	 "\"203.0.113.12\",\"clientPort\":\"4711\",\"socketIp\":\"10.0.0.1\","
	 "\"userAgent\":\"Mozilla/5.0 (X)\",\"referer\":\"https://a.example/\","
	 "\"httpStatusCode\":\"302\",\"hostName\":\"go.example\"}}",
	 "Mozilla/5.0 (X)", "go.example"},
	{"akamai", "json", NULL,
	 "{\"cliIP\":\"203.0.113.12\",\"reqTimeSec\":\"1431857103.000\","
	 "\"reqMethod\":\"GET\",\"reqHost\":\"go.example\",\"reqPath\":\"/"
	 "abc\","
	 "\"queryStr\":\"x=y\",\"statusCode\":\"302\",\"UA\":"
	 "\"Mozilla/5.0 (X)\",\"referer\":\"https://a.example/\"}",
	 "Mozilla/5.0 (X)", "go.example"},
	{"ecs", "json", NULL,
	 "{\"@timestamp\":\"2015-05-17T10:05:03.000Z\",\"client\":{\"ip\":"
	 "\"203.0.113.12\"},\"url\":{\"original\":\"/abc?x=y\",\"domain\":"
	 "\"go.example\"},\"http\":{\"request\":{\"method\":\"GET\","
	 "\"referrer\":\"https://a.example/\"},\"response\":{\"status_code\":"
	 "302}},\"user_agent\":{\"original\":\"Mozilla/5.0 (X)\"}}",
	 "Mozilla/5.0 (X)", "go.example"},
	{"envoy", "envoy", NULL,
	 "[2015-05-17T10:05:03.000Z] " REQUEST
	 " 302 - 0 3 1 0 \"203.0.113.12\" \"Mozilla/5.0 (X)\" \"cc21d9b0\" "
	 "\"go.example\" \"10.0.0.1:80\"",
	 "Mozilla/5.0 (X)", "go.example"},
	{"istio", "istio", NULL,
	 "[2015-05-17T10:05:03.000Z] " REQUEST
	 " 302 - via_upstream - \"-\" 0 3 1 0 \"203.0.113.12\" "
	 "\"Mozilla/5.0 (X)\" \"cc21d9b0\" \"go.example\" \"10.0.0.1:80\" "
	 "inbound|80|| 127.0.0.6:1 10.0.0.2:80 10.0.0.3:4711 outbound_.80 "
	 "default",
	 "Mozilla/5.0 (X)", "go.example"},
	{"ingress-nginx", "combined", NULL,
	 CLF REQUEST " 302 138" ENDING " 423 0.007 [default-go-80] [] "
		     "10.0.0.2:80 138 0.007 302 cc21d9b0",
	 "Mozilla/5.0 (X)", ""},
	{"varnish", "combined", NULL,
	 CLF "\"GET http://go.example/abc?x=y HTTP/1.1\" 302 138" ENDING,
	 "Mozilla/5.0 (X)", "go.example"},
};

static void check_server(struct world *w, size_t i, const char *format)
{
	struct access_visit v;
	bool remark;

	access_format_free(w->f);
	w->err = (struct error){0};
	w->f = access_format_new(format, NULL, &w->rules, &w->err);
	assert_non_null(w->f);
	if (servers[i].head) {
		remark = access_format_remark(w->f, servers[i].head,
					      strlen(servers[i].head));
		assert_true(remark);
	}
	access_format_read(w->f, servers[i].line, strlen(servers[i].line), &v,
			   &w->err);
	assert_string_equal(w->err.text, "");
	assert_string_equal(access_format_name(w->f),
			    strcmp(format, "auto") ? servers[i].name
						   : servers[i].found);
	assert_int_equal(v.time_ms, MAY17);
	assert_text(v.method, "GET");
	assert_text(v.path, "/abc");
	assert_text(v.query, "x=y");
	assert_int_equal(v.status, 302);
	assert_text(v.user_agent, servers[i].agent);
	if (*servers[i].host)
		assert_text((struct access_text){v.host.data, v.host.len},
			    servers[i].host);
	if (v.ip_len == 4)
		assert_memory_equal(v.ip, FIRST, 4);
	else
		assert_memory_equal(v.ip, SIX, 16);
}

static void servers_own_formats_are_read_by_name_and_by_themselves(void **state)
{
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++) {
		check_server(w, i, servers[i].name);
		check_server(w, i, "auto");
	}
}

static void a_log_in_columns_needs_their_names(void **state)
{
	struct world *w = *state;

	assert_int_equal(try(w, "iis", "2015-05-17 10:05:03 /abc"), -1);
	assert_non_null(strstr(w->err.text, "#Fields"));
	assert_true(
		access_format_remark(w->f, "#Fields: date time cs-uri", 25));
	assert_int_equal(access_format_read(w->f, "2015-05-17 10:05:03", 19,
					    &w->v, &w->err),
			 -1);
	assert_non_null(strstr(w->err.text, "fewer columns"));
	assert_int_equal(access_format_read(w->f, "2015-05-17 10:05:03 /a b",
					    24, &w->v, &w->err),
			 -1);
	assert_non_null(strstr(w->err.text, "more columns"));
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

		assert_null(access_format_new(formats[i], NULL, &none, &err));
		assert_true(err.code == ERROR_USAGE || err.code == ERROR_USAGE);
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
		TEST(addresses_are_read_in_all_their_forms),
		TEST(a_list_without_quotes_is_one_field),
		TEST(what_is_no_address_is_not_taken_for_none),
		TEST(whom_a_proxy_names_comes_before_the_peer),
		TEST(proxies_that_are_known_are_read_from_the_right),
		TEST(a_status_that_there_is_not_is_no_answer),
		TEST(times_may_have_blanks_where_nothing_is_around_them),
		TEST(a_time_without_a_zone_is_of_the_one_that_is_set),
		TEST(names_that_are_not_understood_are_told),
		TEST(servers_own_formats_are_read_by_name_and_by_themselves),
		TEST(a_log_in_columns_needs_their_names),
		TEST(what_is_no_line_is_refused_with_its_column),
		TEST(what_was_no_request_has_no_path),
		TEST(a_whole_url_in_a_request_is_a_path),
		TEST(what_is_no_format_is_refused),
		TEST(a_field_that_there_is_not_is_refused),
	};

	return cmocka_run_group_tests_name("access_format", tests, NULL, NULL);
}
