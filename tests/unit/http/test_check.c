/*
 * The end of a request, by each of the two guards alone: llhttp's, and ours
 * (check.c), which is the only one if a usual request bypasses llhttp (scan.c).
 */
#include "tests/unit/unit.h"

#include <string.h>

#include "common/http/check.h"

#define POST_1_1 "POST / HTTP/1.1\r\nHost: a\r\n"
#define POST_1_0 "POST / HTTP/1.0\r\n"
#define LENGTH	 "Content-Length: 3\r\n"
#define CHUNKED	 "Transfer-Encoding: chunked\r\n"
#define CLOSE	 "Connection: close\r\n"
#define KEEP	 "Connection: keep-alive\r\n"

enum {
	HEADERS_MAX = 16,
};

/* --- our guard, without llhttp -------------------------------------------- */

struct checked {
	int status; /* 0: accepted */
	bool keep_alive, expects;
	char detail[80];
};

/* Splits names and values as llhttp does. */
static void split_headers(struct http_request *req)
{
	const char *base = req->in.data, *line = strstr(base, "\r\n") + 2;

	for (; strncmp(line, "\r\n", 2) != 0; line = strstr(line, "\r\n") + 2) {
		struct header_ref *h = &req->headers[req->header_count++];
		const char *colon = strchr(line, ':');
		const char *value = colon + 1 + strspn(colon + 1, " ");

		assert_true(req->header_count <= HEADERS_MAX);
		h->name = (uint32_t)(line - base);
		h->name_len = (uint32_t)(colon - line);
		h->value = (uint32_t)(value - base);
		h->value_len = (uint32_t)strcspn(value, "\r");
	}
}

/* A single request. */
struct alone {
	struct http_config config;
	struct http_listener listener;
	struct connection conn;
	struct http_request *req;
};

/* Makes a POST of "/" whose headers are not split yet. */
static struct alone *alone_new(const char *text)
{
	struct alone *a = calloc(1, sizeof(*a));
	struct http_request *req =
		calloc(1, sizeof(*req) + HEADERS_MAX * sizeof(req->headers[0]));

	assert_non_null(a);
	assert_non_null(req);
	a->config = http_config_default;
	a->listener.config = &a->config;
	a->conn.listener = &a->listener;
	a->req = req;
	req->conn = &a->conn;
	buf_puts(&req->in, text);
	req->in.len = strlen(buf_cstr(&req->in));
	req->parser.method = HTTP_POST;
	req->parser.http_major = 1;
	req->parser.http_minor = strstr(text, "HTTP/1.1") ? 1 : 0;
	req->url = 5;
	req->url_len = 1;
	return a;
}

/* Returns the result of the check, and frees the request. */
static struct checked alone_end(struct alone *a)
{
	struct http_request *req = a->req;
	struct checked ret = {.status = 0};

	if (check_headers(req) < 0)
		ret.status = req->refusal;
	ret.keep_alive = req->keep_alive;
	ret.expects = req->expects;
	snprintf(ret.detail, sizeof(ret.detail), "%s",
		 ret.status ? req->refusal_detail : "");
	buf_free(&req->in);
	free(req);
	free(a);
	return ret;
}

static struct checked check_alone(const char *text)
{
	struct alone *a = alone_new(text);

	split_headers(a->req);
	return alone_end(a);
}

static void assert_taken(const char *text)
{
	struct checked c = check_alone(text);

	if (c.status)
		fail_msg("%s: %d %s", text, c.status, c.detail);
}

static void assert_refused(const char *text, int status, const char *detail)
{
	struct checked c = check_alone(text);

	if (c.status != status || strcmp(c.detail, detail) != 0)
		fail_msg("%s: %d %s", text, c.status, c.detail);
}

static void one_length_or_one_coding_says_where_a_body_ends(void **state)
{
	static const char why[] = "contradictory body length";

	(void)state;
	assert_taken(POST_1_1 "\r\n");
	assert_taken(POST_1_1 LENGTH "\r\n");
	assert_taken(POST_1_1 CHUNKED "\r\n");
	assert_taken(POST_1_0 LENGTH "\r\n");
	assert_refused(POST_1_1 LENGTH CHUNKED "\r\n", 400, why);
	assert_refused(POST_1_1 CHUNKED LENGTH "\r\n", 400, why);
	assert_refused(POST_1_1 LENGTH LENGTH "\r\n", 400, why);
	assert_refused(POST_1_1 LENGTH LENGTH CHUNKED "\r\n", 400, why);
	assert_refused(POST_1_1 "content-length: 3\r\n"
				"TRANSFER-ENCODING: gzip\r\n\r\n",
		       400, why);
	assert_refused(POST_1_0 LENGTH CHUNKED "\r\n", 400, why);
	/* Names of the same length are different names. */
	assert_taken(POST_1_1 LENGTH "Content-Lengxh: 3\r\n\r\n");
	assert_taken(POST_1_1 LENGTH "Transfer-Encodinx: a\r\n\r\n");
}

static void the_only_coding_is_chunked(void **state)
{
	static const char why[] = "the only Transfer-Encoding accepted is "
				  "chunked";
#define CODED(coding) POST_1_1 "Transfer-Encoding: " coding "\r\n\r\n"

	(void)state;
	assert_taken(CODED("Chunked"));
	assert_refused(CODED("gzip, chunked"), 501, why);
	assert_refused(CODED("gzip, br, chunked"), 501, why);
	assert_refused(CODED("gzip"), 400, why);
	assert_refused(CODED("chunked, gzip"), 400, why);
	assert_refused(CODED("chunked, chunked"), 400, why);
	assert_refused(CODED("gzip, chunked, br"), 400, why);
	assert_refused(CODED(", chunked"), 400, why);
	assert_refused(CODED("xchunked"), 400, why);
	assert_refused(CODED("chunkedx"), 400, why);
	assert_refused(CODED(""), 400, why);
	assert_refused(POST_1_1 CHUNKED CHUNKED "\r\n", 400, why);
	assert_refused(POST_1_0 CHUNKED "\r\n", 400,
		       "Transfer-Encoding in HTTP/1.0");
#undef CODED
}

static void a_request_has_one_host(void **state)
{
	static const char why[] = "one valid Host header is needed";

	(void)state;
	assert_taken(POST_1_0 "\r\n");
	assert_taken(POST_1_0 "Host: a:80\r\n\r\n");
	assert_taken("POST / HTTP/1.1\r\nHost: \r\n\r\n");
	assert_refused("POST / HTTP/1.1\r\n\r\n", 400, why);
	assert_refused(POST_1_1 "Host: a\r\n\r\n", 400, why);
	assert_refused(POST_1_0 "Host: a\r\nHost: a\r\n\r\n", 400, why);
	assert_refused("POST / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, why);
	assert_refused(POST_1_0 "Host: a/b\r\n\r\n", 400, why);
}

static void assert_host(const char *host, bool is_one)
{
	const struct http_slice slice = {host, strlen(host)};

	if (check_host(slice) != is_one)
		fail_msg("%s", host);
}

static void a_host_is_a_name_or_an_address_with_or_without_a_port(void **state)
{
	static const char *const hosts[] = {
		"",
		"a",
		"A-z.0_~!$&'()*+,;=",
		"a:",
		"a:80",
		"127.0.0.1",
		"%41",
		"a%2Fb:1",
		"[::1]",
		"[::1]:80",
		":80",
		"a%aF",
		"[1111:2222:3333:4444:5555:6666:255.255.255.255]"};
	static const char *const others[] = {
		"a b",
		"a/b",
		"a@b",
		"a:b",
		"a:80:80",
		"a:8 ",
		"%4",
		"%",
		"%4g",
		"%g4",
		"[::1",
		"[::1]a",
		"[]",
		"[::g]",
		"[1.2.3.4]",
		"[::1]:x",
		"a[",
		"a\x7f",
		"a\xc3",
		"a?",
		"a#",
		"<a>",
		"::1",
		"[1111:2222:3333:4444:5555:6666:255.255.255.2555]",
		"[1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb]"};

	(void)state;
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
		assert_host(hosts[i], true);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_host(others[i], false);
}

static void whether_another_request_follows_is_said_by_options(void **state)
{
	(void)state;
	assert_true(check_alone(POST_1_1 "\r\n").keep_alive);
	assert_true(check_alone(POST_1_1 KEEP "\r\n").keep_alive);
	assert_false(check_alone(POST_1_1 CLOSE "\r\n").keep_alive);
	assert_false(check_alone(POST_1_1 KEEP CLOSE "\r\n").keep_alive);
	assert_false(check_alone(POST_1_1 CLOSE KEEP "\r\n").keep_alive);
	assert_false(check_alone(POST_1_1 "Connection: te, Close\r\n\r\n")
			     .keep_alive);
	assert_true(
		check_alone(POST_1_1 "Connection: closed\r\n\r\n").keep_alive);
	assert_false(check_alone(POST_1_0 "\r\n").keep_alive);
	assert_true(check_alone(POST_1_0 KEEP "\r\n").keep_alive);
	assert_false(check_alone(POST_1_0 KEEP CLOSE "\r\n").keep_alive);
}

static void an_expectation_is_known_or_refused(void **state)
{
	(void)state;
	assert_false(check_alone(POST_1_1 LENGTH "\r\n").expects);
	assert_true(
		check_alone(POST_1_1 "Expect: 100-Continue\r\n\r\n").expects);
	assert_refused(POST_1_1 "Expect: 200-ok\r\n\r\n", 417,
		       "unknown expectation");
	/* HTTP/1.0 has no 100-continue. */
	assert_taken(POST_1_0 "Expect: 200-ok\r\n\r\n");
	assert_false(
		check_alone(POST_1_0 "Expect: 100-continue\r\n\r\n").expects);
}

/* --- lines in any split --------------------------------------------------- */

/* Checks a request with that line after its Host, which a parser split into
 * this name and value.  A '$' is a zero byte.  *ret_value is the value after
 * the check. */
static struct checked check_line(const char *line, const char *name,
				 const char *value, char ret_value[16])
{
	struct header_ref *h;
	struct alone *a;
	char text[128], *at, *bytes;

	snprintf(text, sizeof(text), POST_1_1 "%s\r\n\r\n", line);
	a = alone_new(text);
	bytes = a->req->in.data;
	a->req->header_count = 2;
	a->req->headers[0] = (struct header_ref){17, 4, 23, 1};
	h = &a->req->headers[1];
	at = strstr(bytes + 26, name);
	h->name = (uint32_t)(at - bytes);
	h->name_len = (uint32_t)strlen(name);
	at = strstr(at + h->name_len, value);
	h->value = (uint32_t)(at - bytes);
	h->value_len = (uint32_t)strlen(value);
	at = strchr(bytes, '$');
	if (at)
		*at = '\0';
	if (check_headers(a->req) == 0)
		snprintf(ret_value, 16, "%.*s", (int)h->value_len,
			 bytes + h->value);
	return alone_end(a);
}

static void a_line_is_split_where_everybody_splits_it(void **state)
{
	static const struct {
		const char *line, *name, *value, *is; /* NULL: refused */
	} cases[] = {
		{"X: a", "X", "a", "a"},
		{"X:a", "X", "a", "a"},
		{"X: \ta", "X", "a", "a"},
		{"X: a b \t", "X", "a b \t", "a b"},
		{"X: a \t", "X", "a", "a"},
		{"X:", "X", "", ""},
		{"X:  \t", "X", "", ""},
		{"X : a", "X", "a", NULL},
		{" X: a", "X", "a", NULL},
		{"XY: a", "Y", "a", NULL},
		{"(X: a", "(X", "a", NULL},
		{": a", "", "a", NULL},
		{"X: ab", "X", "b", NULL},
		{"X: ab", "X", "a", NULL},
		{"X: a\r\n b", "X", "a\r\n b", NULL},
		{"X: a\rb", "X", "a\rb", NULL},
		{"X: a\nb", "X", "a\nb", NULL},
		{"X: a$b", "X", "a$b", NULL},
		{"X: a\n", "X", "a", NULL},
		{"X: a\r", "X", "a", NULL},
	};
	struct checked c;
	char value[16];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		c = check_line(cases[i].line, cases[i].name, cases[i].value,
			       value);
		if (c.status != (cases[i].is ? 0 : 400))
			fail_msg("'%s': %d", cases[i].line, c.status);
		if (cases[i].is)
			assert_string_equal(value, cases[i].is);
		else
			assert_string_equal(c.detail, "malformed header line");
	}
}

/* This line belongs to no header. */
static void behind_the_last_header_they_end(void **state)
{
	struct alone *a = alone_new(POST_1_1 "X: a\r\n\r\n");
	struct checked c;

	(void)state;
	split_headers(a->req);
	a->req->header_count = 1;
	c = alone_end(a);
	assert_int_equal(c.status, 400);
	assert_string_equal(c.detail, "malformed end of headers");
}

static struct checked check_bounded(const char *text, int64_t max)
{
	struct alone *a = alone_new(text);

	a->config.max_header_bytes = max;
	split_headers(a->req);
	return alone_end(a);
}

static void headers_are_as_long_as_they_may_be(void **state)
{
	static const char text[] = POST_1_1 LENGTH "\r\n";
	int64_t len = (int64_t)strlen(text);
	struct alone *a = alone_new(text);
	struct checked c;

	(void)state;
	split_headers(a->req);
	assert_int_equal(check_headers(a->req), 0);
	assert_int_equal(a->req->header_len, len);
	assert_int_equal(a->req->body, len);
	alone_end(a);
	assert_int_equal(check_bounded(text, len).status, 0);
	c = check_bounded(text, len - 1);
	assert_int_equal(c.status, 431);
	/* The line "POST / HTTP/1.1\r\n" ends within the first 17 bytes. */
	assert_int_equal(check_bounded(text, 17).status, 431);
	c = check_bounded(text, 16);
	assert_int_equal(c.status, 414);
	assert_string_equal(c.detail, "the request line is too long");
}

/* Checks `text`, which a parser took as the target. */
static struct checked check_target(const char *text, uint32_t url,
				   unsigned major)
{
	struct alone *a = alone_new(text);

	a->req->url = url;
	a->req->parser.http_major = (uint8_t)major;
	split_headers(a->req);
	return alone_end(a);
}

static void a_request_line_has_two_spaces(void **state)
{
	static const struct {
		const char *text;
		uint32_t url;
		unsigned major;
		int status;
	} cases[] = {
		{POST_1_1 "\r\n", 5, 1, 0},
		{"P / HTTP/1.1\r\nHost: a\r\n\r\n", 2, 1, 0},
		{" / HTTP/1.1\r\nHost: a\r\n\r\n", 1, 1, 400},
		{"POST  / HTTP/1.1\r\nHost: a\r\n\r\n", 6, 1, 400},
		{"POST\t/ HTTP/1.1\r\nHost: a\r\n\r\n", 5, 1, 400},
		{"POST /  HTTP/1.1\r\nHost: a\r\n\r\n", 5, 1, 400},
		{"POST / HTTP/1.1 \r\nHost: a\r\n\r\n", 5, 1, 400},
		{"POST / HTTP/1.2\r\nHost: a\r\n\r\n", 5, 1, 400},
		{"POST / HTTP/2.0\r\nHost: a\r\n\r\n", 5, 2, 505},
		{"POST / HTTQ/2.0\r\nHost: a\r\n\r\n", 5, 2, 400},
	};
	struct checked c;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		c = check_target(cases[i].text, cases[i].url, cases[i].major);
		if (c.status != cases[i].status)
			fail_msg("'%s': %d", cases[i].text, c.status);
		if (c.status == 400)
			assert_string_equal(c.detail, "malformed request line");
	}
}

/* --- llhttp's guard, without ours ----------------------------------------- */

/* The error's name depends on llhttp's version. */
static bool llhttp_takes(const char *text)
{
	llhttp_settings_t settings;
	llhttp_t parser;

	llhttp_settings_init(&settings);
	llhttp_init(&parser, HTTP_REQUEST, &settings);
	return llhttp_execute(&parser, text, strlen(text)) == HPE_OK;
}

static void llhttp_refuses_two_ends_of_a_body_by_itself(void **state)
{
	(void)state;
	assert_true(llhttp_takes(POST_1_1 LENGTH "\r\nabc"));
	assert_true(llhttp_takes(POST_1_1 CHUNKED "\r\n0\r\n\r\n"));
	assert_false(llhttp_takes(POST_1_1 LENGTH LENGTH "\r\nabc"));
	assert_false(llhttp_takes(POST_1_1 CHUNKED LENGTH "\r\n0\r\n\r\n"));
	assert_false(llhttp_takes(POST_1_1 LENGTH CHUNKED "\r\n0\r\n\r\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			one_length_or_one_coding_says_where_a_body_ends),
		cmocka_unit_test(the_only_coding_is_chunked),
		cmocka_unit_test(a_request_has_one_host),
		cmocka_unit_test(
			a_host_is_a_name_or_an_address_with_or_without_a_port),
		cmocka_unit_test(
			whether_another_request_follows_is_said_by_options),
		cmocka_unit_test(an_expectation_is_known_or_refused),
		cmocka_unit_test(a_line_is_split_where_everybody_splits_it),
		cmocka_unit_test(behind_the_last_header_they_end),
		cmocka_unit_test(headers_are_as_long_as_they_may_be),
		cmocka_unit_test(a_request_line_has_two_spaces),
		cmocka_unit_test(llhttp_refuses_two_ends_of_a_body_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
