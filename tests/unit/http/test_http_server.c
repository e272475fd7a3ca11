/* Requests as they arrive, and the order of answers. */
#include "world.h"

/* --- requests ------------------------------------------------------------- */

static void the_handler_sees_method_path_query_and_body(void **state)
{
	char *answer = client_exchange(
		*state, "PUT /a%20b?c=d&e HTTP/1.1\r\nHost: a\r\n"
			"Connection: close\r\nContent-Length: 5\r\n\r\nhello");

	expect_body(answer, "PUT\n/a%20b\nc=d&e\nhello\n");
	free(answer);
}

static void an_absolute_target_is_cut_to_its_path(void **state)
{
	char *answer = client_exchange(
		*state, "GET http://b:80/c?d HTTP/1.1\r\nHost: a\r\n"
			"Connection: close\r\n\r\n");

	expect_body(answer, "GET\n/c\nd\n\n");
	free(answer);
}

static void an_absolute_target_without_path_is_the_root(void **state)
{
	char *answer =
		client_exchange(*state, "GET http://b?d HTTP/1.1\r\nHost: a\r\n"
					"Connection: close\r\n\r\n");

	expect_body(answer, "GET\n/\nd\n\n");
	free(answer);
}

static void options_of_the_server_is_a_star(void **state)
{
	char *answer =
		client_exchange(*state, "OPTIONS * HTTP/1.1\r\nHost: a\r\n"
					"Connection: close\r\n\r\n");

	expect_body(answer, "OPTIONS\n*\n\n\n");
	free(answer);
}

static void chunks_are_joined(void **state)
{
	char *answer = client_exchange(
		*state,
		"POST /c HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
		"Transfer-Encoding: chunked\r\n\r\n"
		"3\r\nabc\r\nA;x=\"y\"\r\n0123456789\r\n1\r\nz\r\n0\r\n\r\n");

	expect_body(answer, "POST\n/c\n\nabc0123456789z\n");
	free(answer);
}

#define TRAILED                                                                \
	"POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"    \
	"3\r\nabc\r\n0\r\nExpires: 0\r\nConnection: close\r\nEmpty:\r\n\r\n"

/* RFC 9112, 7.1.2: a recipient that does not know the fields of a trailer drops
 * them. */
static void a_trailer_is_read_and_dropped(void **state)
{
	char *answer = get_then_close(*state, TRAILED);

	assert_int_equal(count_occurrences(answer, "HTTP/1.1 200 OK"), 2);
	assert_non_null(strstr(answer, "POST\n/c\n\nabc\n"));
	free(answer);
}

static void a_trailer_may_come_byte_by_byte(void **state)
{
	const char *text = TRAILED "GET /d HTTP/1.1\r\nHost: a\r\n"
				   "Connection: close\r\n\r\n";
	int fd = client_connect(*state);
	char *answer;

	for (; *text; text++) {
		assert_int_equal(send(fd, text, 1, MSG_NOSIGNAL), 1);
		usleep(200);
	}
	answer = client_read_all(fd);
	assert_int_equal(count_occurrences(answer, "HTTP/1.1 200 OK"), 2);
	assert_non_null(strstr(answer, "POST\n/c\n\nabc\n"));
	free(answer);
	close(fd);
}

static void a_request_may_come_byte_by_byte(void **state)
{
	const char *text = "POST /c?d HTTP/1.1\r\nHost: a\r\n"
			   "Connection: close\r\nEmpty:\r\n"
			   "Transfer-Encoding: chunked\r\n\r\n"
			   "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
	int fd = client_connect(*state);
	char *answer;

	for (; *text; text++) {
		assert_int_equal(send(fd, text, 1, MSG_NOSIGNAL), 1);
		usleep(200);
	}
	answer = client_read_all(fd);
	expect_body(answer, "POST\n/c\nd\nabcde\n");
	free(answer);
	close(fd);
}

static void an_upgrade_is_ignored(void **state)
{
	char *answer = get_then_close(
		*state, "GET /u HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\n"
			"Connection: upgrade\r\n\r\n");

	assert_int_equal(count_occurrences(answer, "HTTP/1.1 200 OK"), 2);
	free(answer);
}

static void empty_lines_before_a_request_are_skipped(void **state)
{
	char *answer = get_then_close(*state, "\r\n\r\n" GET("/a") "\r\n");

	assert_int_equal(count_occurrences(answer, "HTTP/1.1 200 OK"), 2);
	free(answer);
}

static void a_body_of_the_greatest_length_is_taken(void **state)
{
	struct world *w = *state;
	size_t len = (size_t)w->config.max_body_bytes;
	char *body = calloc(1, len + 1);
	int fd = client_connect(w);
	const char *body_at;
	char *answer;

	memset(body, 'x', len);
	client_send(fd, "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
			"Content-Length: 100000\r\n\r\n");
	client_send(fd, body);
	answer = client_read_all(fd);
	assert_int_equal(status_of(answer), 200);
	/* A search for so long a text in a similar one takes quadratic time. */
	body_at = strchr(strstr(answer, "\r\n\r\n"), 'x');
	assert_int_equal(strspn(body_at, "x"), len);
	free(answer);
	free(body);
	close(fd);
}

static void headers_of_the_greatest_length_are_taken(void **state)
{
	struct world *w = *state;
	char text[2049] = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
			  "A: ";
	size_t len = strlen(text);
	char *answer;

	memset(text + len, 'x', 2048 - 4 - len);
	memcpy(text + 2044, "\r\n\r\n", 5);
	answer = client_exchange(w, text);
	assert_int_equal(status_of(answer), 200);
	free(answer);
}

static void headers_one_byte_longer_are_a_431(void **state)
{
	char text[2050] = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
			  "A: ";
	size_t len = strlen(text);
	char *answer;

	memset(text + len, 'x', 2049 - 4 - len);
	memcpy(text + 2045, "\r\n\r\n", 5);
	answer = client_exchange(*state, text);
	assert_int_equal(status_of(answer), 431);
	free(answer);
}

/* Returns the status of a request that begins like this and is longer than a
 * header block may be. */
static int status_without_end(struct world *w, const char *begin)
{
	char text[4096], *answer;
	int status;

	memset(text, 'x', sizeof(text));
	memcpy(text, begin, strlen(begin));
	text[sizeof(text) - 1] = '\0';
	answer = client_exchange(w, text);
	status = status_of(answer);
	free(answer);
	return status;
}

static void headers_without_end_are_a_431(void **state)
{
	assert_int_equal(status_without_end(*state, "GET / HTTP/1.1\r\nA: "),
			 431);
}

static void a_target_without_end_is_a_414(void **state)
{
	assert_int_equal(status_without_end(*state, "GET /"), 414);
}

static void more_header_lines_than_allowed_are_a_431(void **state)
{
	char text[1024] = "GET / HTTP/1.1\r\nHost: a\r\n";
	char *answer;

	for (int i = 0; i < 20; i++)
		strcat(text, "A: b\r\n");
	strcat(text, "\r\n");
	answer = client_exchange(*state, text);
	assert_int_equal(status_of(answer), 431);
	free(answer);
}

/* --- keep-alive and order ------------------------------------------------- */

static void a_connection_serves_many_requests(void **state)
{
	int fd = client_connect(*state);
	char *answer;

	for (int i = 0; i < 3; i++) {
		client_send(fd, GET("/a"));
		answer = client_read(fd, "GET\n/a\n\n\n", 1);
		assert_int_equal(status_of(answer), 200);
		free(answer);
	}
	close(fd);
}

static void http_1_0_is_closed_after_the_answer(void **state)
{
	char *answer = client_exchange(*state, "GET /a HTTP/1.0\r\n\r\n");

	assert_non_null(strstr(answer, "\r\nConnection: close\r\n"));
	expect_body(answer, "GET\n/a\n\n\n");
	free(answer);
}

static void http_1_0_may_ask_to_be_kept(void **state)
{
	char *answer = get_then_close(
		*state, "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");

	assert_non_null(strstr(answer, "\r\nConnection: keep-alive\r\n"));
	assert_int_equal(count_occurrences(answer, "HTTP/1.1 200 OK"), 2);
	free(answer);
}

/* Returns how many of two requests are answered; the first is this one. */
static int answered_of_two(struct world *w, const char *version,
			   const char *header)
{
	char request[256], *answer;
	int answered;

	snprintf(request, sizeof(request),
		 "GET /a HTTP/%s\r\nHost: a\r\n%s\r\n\r\n", version, header);
	answer = get_then_close(w, request);
	answered = count_occurrences(answer, "HTTP/1.1 200 OK");
	free(answer);
	return answered;
}

static void a_connection_is_closed_if_any_option_says_so(void **state)
{
	static const char *const closing[] = {
		"Connection: close",
		"connection: CLOSE",
		"Connection: \tclose\t",
		"Connection: close, keep-alive",
		"Connection: keep-alive ,\tclose",
		"Connection: a,,close,",
		"Connection: a\r\nConnection: close"};

	for (size_t i = 0; i < sizeof(closing) / sizeof(closing[0]); i++) {
		assert_int_equal(answered_of_two(*state, "1.1", closing[i]), 1);
		assert_int_equal(answered_of_two(*state, "1.0", closing[i]), 1);
	}
}

static void a_connection_is_kept_if_no_option_closes_it(void **state)
{
	static const char *const keeping[] = {
		"Connection: closed", "Connection: x-close",
		"Connection: ",	      "Connection: a close",
		"Connectio: close",   "Proxy-Connection: close",
		"Keep-Alive: close"};

	for (size_t i = 0; i < sizeof(keeping) / sizeof(keeping[0]); i++)
		assert_int_equal(answered_of_two(*state, "1.1", keeping[i]), 2);
}

static void http_1_0_is_kept_by_no_other_header(void **state)
{
	assert_int_equal(answered_of_two(*state, "1.0", "Connection: a"), 1);
	assert_int_equal(answered_of_two(*state, "1.0", "Keep-Alive: 9"), 1);
	assert_int_equal(
		answered_of_two(*state, "1.0", "Proxy-Connection: keep-alive"),
		1);
	assert_int_equal(
		answered_of_two(*state, "1.0", "Connection: a,\tKeep-Alive"),
		2);
}

static void hosts_of_every_form_are_served(void **state)
{
	static const char *const hosts[] = {"a",
					    "",
					    "a:",
					    "a:80",
					    ":80",
					    "A-1._~!$&'()*+,;=b",
					    "%41%fF:1",
					    "%09%aA%f0",
					    "127.0.0.1:8080",
					    "[::1]",
					    "[::ffff:192.0.2.1]:80"};
	char request[128], *answer;

	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		snprintf(request, sizeof(request),
			 "GET /a HTTP/1.1\r\nHost: %s\r\n\r\n", hosts[i]);
		answer = get_then_close(*state, request);
		assert_int_equal(count_occurrences(answer, "HTTP/1.1 200 OK"),
				 2);
		free(answer);
	}
}

static void pipelined_requests_are_answered_in_order(void **state)
{
	char *answer = get_then_close(*state, GET("/1") GET("/later") GET("/3")
						      GET("/later"));
	const char *one = strstr(answer, "\n/1\n");
	const char *later = strstr(answer, "\n/later\n");
	const char *three = strstr(answer, "\n/3\n");

	assert_int_equal(count_occurrences(answer, "HTTP/1.1 200 OK"), 5);
	assert_true(one < later && later < three);
	free(answer);
}

static void a_thousand_pipelined_requests_are_all_answered(void **state)
{
	struct buf text = {0};
	int fd = client_connect(*state);
	char *answer;

	for (int i = 0; i < 1000; i++)
		buf_printf(&text, "GET /%d HTTP/1.1\r\nHost: a\r\n\r\n", i);
	buf_cstr(&text);
	client_send(fd, text.data);
	answer = client_read(fd, "HTTP/1.1 200 OK", 1000);
	assert_int_equal(count_occurrences(answer, "HTTP/1.1 200 OK"), 1000);
	free(answer);
	buf_free(&text);
	close(fd);
}

static void pipelined_answers_leave_in_one_write(void **state)
{
	int fd = client_connect(*state);
	char chunk[65536];
	ssize_t n;

	client_send(fd, GET("/1") GET("/2") GET("/3"));
	/* On loopback one segment is read as a whole or not at all. */
	n = recv(fd, chunk, sizeof(chunk) - 1, 0);
	assert_true(n > 0);
	chunk[n] = '\0';
	assert_int_equal(count_occurrences(chunk, "HTTP/1.1 200 OK"), 3);
	close(fd);
}

static void requests_behind_a_close_are_not_served(void **state)
{
	struct world *w = *state;
	char *answer = client_exchange(
		w,
		"GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" GET(
			"/b"));

	assert_int_equal(count_occurrences(answer, "HTTP/1.1 200 OK"), 1);
	assert_int_equal(atomic_load(&w->handled), 1);
	free(answer);
}

static void a_half_closed_client_still_gets_its_answer(void **state)
{
	int fd = client_connect(*state);
	char *answer;

	client_send(fd, GET("/later"));
	shutdown(fd, SHUT_WR);
	answer = client_read_all(fd);
	expect_body(answer, "GET\n/later\n\n\n");
	free(answer);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_handler_sees_method_path_query_and_body),
		CASE(an_absolute_target_is_cut_to_its_path),
		CASE(an_absolute_target_without_path_is_the_root),
		CASE(options_of_the_server_is_a_star),
		CASE(chunks_are_joined),
		CASE(a_request_may_come_byte_by_byte),
		CASE(a_trailer_is_read_and_dropped),
		CASE(a_trailer_may_come_byte_by_byte),
		CASE(an_upgrade_is_ignored),
		CASE(empty_lines_before_a_request_are_skipped),
		CASE(a_body_of_the_greatest_length_is_taken),
		CASE(headers_of_the_greatest_length_are_taken),
		CASE(headers_one_byte_longer_are_a_431),
		CASE(headers_without_end_are_a_431),
		CASE(a_target_without_end_is_a_414),
		CASE(more_header_lines_than_allowed_are_a_431),
		CASE(a_connection_serves_many_requests),
		CASE(http_1_0_is_closed_after_the_answer),
		CASE(http_1_0_may_ask_to_be_kept),
		CASE(a_connection_is_closed_if_any_option_says_so),
		CASE(a_connection_is_kept_if_no_option_closes_it),
		CASE(http_1_0_is_kept_by_no_other_header),
		CASE(hosts_of_every_form_are_served),
		CASE(pipelined_requests_are_answered_in_order),
		CASE(a_thousand_pipelined_requests_are_all_answered),
		CASE(pipelined_answers_leave_in_one_write),
		CASE(requests_behind_a_close_are_not_served),
		CASE(a_half_closed_client_still_gets_its_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
