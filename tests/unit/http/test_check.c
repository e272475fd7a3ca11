/*
 * Where a request ends, by each of the two guards alone: llhttp's, and ours
 * (check.c), which is all there is where a request of the usual kind goes by
 * without llhttp (scan.c).
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

/* --- ours, without llhttp ------------------------------------------------- */

struct checked {
	int status; /* 0: it is taken */
	bool keep_alive, expects;
	char detail[80];
};

/* Names and values are split as llhttp splits them. */
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

/* The request is a POST of "/". */
static struct checked check_alone(const char *text)
{
	struct http_config config = http_config_default;
	struct http_listener listener = {.config = &config};
	struct connection conn = {.listener = &listener};
	struct http_request *req =
		calloc(1, sizeof(*req) + HEADERS_MAX * sizeof(req->headers[0]));
	struct checked ret = {.status = 0};

	assert_non_null(req);
	req->conn = &conn;
	buf_puts(&req->in, text);
	req->in.len = strlen(buf_cstr(&req->in));
	req->parser.method = HTTP_POST;
	req->parser.http_major = 1;
	req->parser.http_minor = strstr(text, "HTTP/1.1") ? 1 : 0;
	req->url = 5;
	req->url_len = 1;
	split_headers(req);
	if (check_headers(req) < 0)
		ret.status = req->refusal;
	ret.keep_alive = req->keep_alive;
	ret.expects = req->expects;
	snprintf(ret.detail, sizeof(ret.detail), "%s",
		 ret.status ? req->refusal_detail : "");
	buf_free(&req->in);
	free(req);
	return ret;
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
	/* Names that are as long are others. */
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
		"[1111:2222:3333:4444:5555:6666:255.255.255.2555]"};

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
	/* HTTP/1.0 has none. */
	assert_taken(POST_1_0 "Expect: 200-ok\r\n\r\n");
	assert_false(
		check_alone(POST_1_0 "Expect: 100-continue\r\n\r\n").expects);
}

/* --- llhttp's, without ours ----------------------------------------------- */

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
		cmocka_unit_test(llhttp_refuses_two_ends_of_a_body_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
