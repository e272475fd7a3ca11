/* Bodies that are handled while they arrive. */
#include "stream_world.h"

static char *exchange_request(void **state, const char *text)
{
	struct stream_world *w = *state;

	return client_exchange(&w->base, text);
}

/* --- arriving ------------------------------------------------------------- */

static void a_body_with_a_length_is_streamed(void **state)
{
	char *answer = exchange_request(
		state, POST("/s/count", "Connection: close\r\n"
					"Content-Length: 5\r\n") "hello");

	expect_body(answer, "5");
	free(answer);
}

static void a_chunked_body_is_streamed(void **state)
{
	char *answer = exchange_request(
		state,
		POST("/s/echo",
		     "Connection: close\r\n" CHUNKED) "3\r\nabc\r\nA;x="
						      "\"y\"\r\n0123456789\r\n1"
						      "\r\nz\r\n0\r\n\r\n");

	assert_non_null(strstr(answer, "\r\nabc0123456789z\r\n0\r\n\r\n"));
	free(answer);
}

static void a_trailer_is_read_and_dropped(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	char *answer;

	client_send(fd, POST("/s/count", CHUNKED) "1\r\na\r\n0\r\nA: b\r\n");
	client_send(fd, "C: d\r\n\r\n");
	answer = client_read(fd, "\r\n\r\n1", 1);
	expect_body(answer, "1");
	free(answer);
	expect_alive(fd);
	close(fd);
}

static void a_body_may_be_longer_than_max_body_bytes(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	char *answer;

	client_send(fd, POST("/s/count", "Content-Length: 5000000\r\n"));
	send_body(fd, 5000000);
	answer = client_read(fd, "\r\n\r\n5000000", 1);
	expect_body(answer, "5000000");
	free(answer);
	expect_alive(fd);
	close(fd);
}

static void other_bodies_are_still_bounded(void **state)
{
	char *answer =
		exchange_request(state, POST("/a", "Content-Length: 1001\r\n"));

	assert_int_equal(status_of(answer), 413);
	free(answer);
}

static void a_request_without_body_is_streamed_too(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	char *answer;

	client_send(fd, POST("/s/count", ""));
	answer = client_read(fd, "\r\n\r\n0", 1);
	expect_body(answer, "0");
	free(answer);
	expect_alive(fd);
	close(fd);
}

static void a_streamed_request_may_come_byte_by_byte(void **state)
{
	const char *text =
		POST("/s/echo",
		     "Connection: close\r\n" CHUNKED) "3\r\nabc\r\n2;x="
						      "y\r\nde\r\n0\r\n\r\n";
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	char *answer;

	for (; *text; text++) {
		assert_int_equal(send(fd, text, 1, MSG_NOSIGNAL), 1);
		usleep(200);
	}
	answer = client_read_all(fd);
	assert_string_equal(stream_join(answer), "abcde");
	free(answer);
	close(fd);
}

static void the_headers_stay_valid_to_the_end(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	char *answer;

	/* The request follows another one, so it does not begin at the start of
	 * the buffer. */
	client_send(fd, GET("/first") POST("/s/name?q=1",
					   "Content-Length: 300000\r\n") "x");
	send_body(fd, 299999);
	answer = client_read(fd, "0\r\n\r\n", 1);
	assert_non_null(strstr(answer, "POST\n/s/name\nq=1\nsomebody\n"));
	free(answer);
	close(fd);
}

static void requests_behind_a_streamed_one_are_served(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	char *answer;

	client_send(
		fd,
		GET("/1") POST("/s/count", "Content-Length: 3\r\n") "abc" POST(
			"/s/echo", CHUNKED) "1\r\nz\r\n0\r\n\r\n" GET("/4"));
	answer = client_read(fd, "GET\n/4\n\n\n", 1);
	assert_int_equal(count_occurrences(answer, "HTTP/1.1 200 OK"), 4);
	assert_true(strstr(answer, "\r\n\r\n3") < strstr(answer, "GET\n/4"));
	free(answer);
	close(fd);
}

/* --- back pressure -------------------------------------------------------- */

static void a_handler_may_take_it_in_sips(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	char *answer;

	client_send(fd, POST("/s/sip", "Content-Length: 200000\r\n"));
	send_body(fd, 200000);
	answer = client_read(fd, "\r\n\r\n200000", 1);
	expect_body(answer, "200000");
	free(answer);
	close(fd);
}

static void what_is_not_taken_is_not_read(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	struct timeval patience = {.tv_usec = 300000};
	size_t sent = 0;
	char block[65536] = {0};
	char *answer;
	ssize_t n;

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	client_send(fd, POST("/s/hold", "Content-Length: 100000000\r\n"));
	while (sent < 100000000 &&
	       (n = send(fd, block, sizeof(block), MSG_NOSIGNAL)) > 0)
		sent += (size_t)n;
	assert_true(sent < 50000000);
	assert_int_equal(atomic_load(&w->taken), 0);
	world_post(&w->base, stream_let_go);
	patience.tv_sec = 5;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	send_body(fd, 100000000 - sent);
	answer = client_read(fd, "\r\n\r\n100000000", 1);
	expect_body(answer, "100000000");
	free(answer);
	close(fd);
}

/* --- 100-continue --------------------------------------------------------- */

static void the_body_is_asked_for_when_it_is_accepted(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	char *answer;

	client_send(fd, POST("/s/count", "Expect: 100-continue\r\n"
					 "Content-Length: 2\r\n"));
	answer = client_read(fd, "\r\n\r\n", 1);
	assert_string_equal(answer, "HTTP/1.1 100 Continue\r\n\r\n");
	free(answer);
	client_send(fd, "ab");
	answer = client_read(fd, "\r\n\r\n2", 1);
	assert_int_equal(status_of(answer), 200);
	free(answer);
	close(fd);
}

static void the_body_of_a_refused_request_is_not_asked_for(void **state)
{
	char *answer = exchange_request(state, POST("/s/refuse",
						    "Expect: 100-continue\r\n"
						    "Content-Length: 2\r\n"));

	assert_int_equal(status_of(answer), 401);
	assert_int_equal(count_occurrences(answer, "HTTP/1.1 "), 1);
	free(answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STREAM(a_body_with_a_length_is_streamed),
		STREAM(a_chunked_body_is_streamed),
		STREAM(a_trailer_is_read_and_dropped),
		STREAM(a_body_may_be_longer_than_max_body_bytes),
		STREAM(other_bodies_are_still_bounded),
		STREAM(a_request_without_body_is_streamed_too),
		STREAM(a_streamed_request_may_come_byte_by_byte),
		STREAM(the_headers_stay_valid_to_the_end),
		STREAM(requests_behind_a_streamed_one_are_served),
		STREAM(a_handler_may_take_it_in_sips),
		STREAM(what_is_not_taken_is_not_read),
		STREAM(the_body_is_asked_for_when_it_is_accepted),
		STREAM(the_body_of_a_refused_request_is_not_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
