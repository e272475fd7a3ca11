/* Which requests are read in one pass, and which are left to the parser. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "common/http/field_text.h"
#include "common/http/parse.h"
#include "common/http/scan.h"

#define HOST "Host: a\r\n"

static struct http_config config;
static struct http_listener listener = {.config = &config};
static struct connection conn = {.listener = &listener};

static struct http_request *request_of(const char *bytes)
{
	struct http_request *req;

	config = http_config_default;
	config.max_headers = 4;
	req = calloc(1, sizeof(*req) + 4 * sizeof(req->headers[0]));
	assert_non_null(req);
	req->conn = &conn;
	buf_puts(&req->in, bytes);
	return req;
}

static void request_free(struct http_request *req)
{
	buf_free(&req->in);
	free(req);
}

static bool is_scanned(const char *bytes)
{
	struct http_request *req = request_of(bytes);
	bool scanned = scan_request(req);

	request_free(req);
	return scanned;
}

static void usual_requests_are_read_in_one_pass(void **state)
{
	static const char *const usual[] = {
		"GET / HTTP/1.1\r\n" HOST "\r\n",
		"GET /a?b=c%20d HTTP/1.1\r\n" HOST "\r\nGET /next",
		"HEAD /0123abc HTTP/1.1\r\nhost:a:80\t \r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "Connection: Close\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST
		"A:\r\nB: c\td\xff, 0123456789\r\n\r\n",
		"GET / HTTP/1.1\r\nHost:\r\n\r\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		if (!is_scanned(usual[i]))
			fail_msg("left to the parser: %s", usual[i]);
	}
}

/* The parser refuses some of them and reads others. */
static void others_are_left_to_the_parser(void **state)
{
	static const char *const others[] = {
		"GET",
		"GET / HTTP/1.1\r\n" HOST,
		"GET / HTTP/1.1\r\n" HOST "\r",
		"GET / HTTP/1.1\r\n" HOST "A: b",
		"GET / HTTP/1.1\r\n" HOST "A: b\r",
		"POST / HTTP/1.1\r\n" HOST "\r\n",
		"GET a HTTP/1.1\r\n" HOST "\r\n",
		"GET http://a/ HTTP/1.1\r\n" HOST "\r\n",
		"GET /#a HTTP/1.1\r\n" HOST "\r\n",
		"GET /\xc3\xa4 HTTP/1.1\r\n" HOST "\r\n",
		"GET /  HTTP/1.1\r\n" HOST "\r\n",
		"GET / HTTP/1.0\r\n" HOST "\r\n",
		"GET / HTTP/1.1\n" HOST "\r\n",
		"GET / HTTP/1.1\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST HOST "\r\n",
		"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
		"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
		"GET / HTTP/1.1\r\n " HOST "\r\n",
		"GET / HTTP/1.1\r\n" HOST ": b\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "A\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "A: b\r\n c\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "A: b\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "A: b\rc\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "A: b\x01\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "A: 0123456789abcde\x7f\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "Transfer-encoding: chunked\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "EXPECT: 100-continue\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "Upgrade: h2c\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "Connection: upgrade\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "Connection: close, a\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "Connection: close\r\n"
		"Connection: keep-alive\r\n\r\n",
		"GET / HTTP/1.1\r\n" HOST "A:\r\nB:\r\nC:\r\nD:\r\n\r\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (is_scanned(others[i]))
			fail_msg("read in one pass: %s", others[i]);
	}
}

/* Tabs and the end can be at any place of the steps in which a text is read. */
static void values_end_where_they_end(void **state)
{
	static const char stops[] = {'\r', '\n', '\x01', '\x1f', '\x7f', '\0'};
	char text[64];

	(void)state;
	for (size_t len = 0; len < 40; len++) {
		for (size_t i = 0; i < sizeof(stops); i++) {
			for (size_t k = 0; k < sizeof(text); k++)
				text[k] = (char)(k % 3	 ? 0x80 + k
						 : k & 1 ? '\t'
							 : ' ' + k);
			text[len] = stops[i];
			assert_ptr_equal(
				field_text_end(text, text + sizeof(text)),
				text + len);
			assert_ptr_equal(field_text_end(text, text + len),
					 text + len);
		}
	}
}

static void a_scanned_request_is_all_there(void **state)
{
	static const char bytes[] = "HEAD /abc?d=e HTTP/1.1\r\nHost: a \r\n"
				    "Connection: close\r\nX:\t y z\t\r\n\r\nG";
	struct http_request *req = request_of(bytes);

	(void)state;
	assert_int_equal(parse_request(req), PARSE_COMPLETE);
	assert_true(http_method_is(req, "HEAD"));
	assert_true(http_slice_is(http_path(req), "/abc"));
	assert_true(http_slice_is(http_query(req), "d=e"));
	assert_int_equal(http_header_count(req), 3);
	assert_true(http_slice_is(http_header_get(req, "host"), "a"));
	assert_true(http_slice_is(http_header_get(req, "x"), "y z"));
	assert_int_equal(http_body(req).len, 0);
	assert_false(req->keep_alive);
	assert_int_equal(req->parsed, sizeof(bytes) - 2);
	request_free(req);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_requests_are_read_in_one_pass),
		cmocka_unit_test(others_are_left_to_the_parser),
		cmocka_unit_test(values_end_where_they_end),
		cmocka_unit_test(a_scanned_request_is_all_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
