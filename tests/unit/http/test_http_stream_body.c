/* Bodies that are handled while they arrive. */
#include "stream_world.h"

static char *exchange(void **state, const char *text)
{
	struct stream_world *w = *state;

	return client_exchange(&w->base, text);
}

/* Sends so many bytes as a body. */
static void send_body(int fd, size_t len)
{
	char block[8192];
	size_t n;

	memset(block, 'x', sizeof(block));
	for (; len > 0; len -= n) {
		n = len < sizeof(block) ? len : sizeof(block);
		assert_int_equal(send(fd, block, n, MSG_NOSIGNAL), n);
	}
}

static void expect_alive(int fd)
{
	char *answer;

	client_send(fd, GET("/after"));
	answer = client_read(fd, "GET\n/after\n\n\n", 1);
	assert_int_equal(status_of(answer), 200);
	free(answer);
}

/* --- arriving ------------------------------------------------------------- */

static void a_body_with_a_length_is_streamed(void **state)
{
	char *answer = exchange(state, POST("/s/count",
					    "Connection: close\r\n"
					    "Content-Length: 5\r\n") "hello");

	expect_body(answer, "5");
	free(answer);
}

static void a_chunked_body_is_streamed(void **state)
{
	char *answer = exchange(
		state,
		POST("/s/echo",
		     "Connection: close\r\n" CHUNKED) "3\r\nabc\r\nA;x="
						      "\"y\"\r\n0123456789\r\n1"
						      "\r\nz\r\n0\r\n\r\n");

	assert_non_null(strstr(answer, "\r\nabc0123456789z\r\n0\r\n\r\n"));
	free(answer);
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
	char *answer = exchange(state, POST("/a", "Content-Length: 1001\r\n"));

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

	/* Behind another request, so that it does not begin its buffer. */
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
	assert_int_equal(count(answer, "HTTP/1.1 200 OK"), 4);
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
	char *answer =
		exchange(state, POST("/s/refuse", "Expect: 100-continue\r\n"
						  "Content-Length: 2\r\n"));

	assert_int_equal(status_of(answer), 401);
	assert_int_equal(count(answer, "HTTP/1.1 "), 1);
	free(answer);
}

/* --- ending early --------------------------------------------------------- */

static void an_answer_before_the_body_closes(void **state)
{
	struct stream_world *w = *state;
	char *answer =
		exchange(state, POST("/s/refuse", "Content-Length: 39\r\n")
					GET("/smuggled"));

	assert_int_equal(status_of(answer), 401);
	assert_int_equal(count(answer, "HTTP/1.1 "), 1);
	assert_non_null(strstr(answer, "\r\nConnection: close\r\n"));
	assert_int_equal(atomic_load(&w->base.handled), 1);
	free(answer);
}

static void an_answer_within_the_body_closes(void **state)
{
	char *answer = exchange(
		state, POST("/s/refuse-later", "Content-Length: 90\r\n")
			       GET("/smuggled"));

	assert_int_equal(status_of(answer), 403);
	assert_int_equal(count(answer, "HTTP/1.1 "), 1);
	free(answer);
}

static void a_streamed_answer_may_end_before_the_body(void **state)
{
	char *answer =
		exchange(state, POST("/s/early", "Content-Length: 90\r\n")
					GET("/smuggled"));

	assert_int_equal(status_of(answer), 200);
	assert_non_null(strstr(answer, "enough\r\n0\r\n\r\n"));
	assert_int_equal(count(answer, "HTTP/1.1 "), 1);
	free(answer);
}

static void a_client_may_still_send_when_it_is_refused(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	char *answer;

	client_send(fd, POST("/s/refuse", "Content-Length: 3000000\r\n"));
	send_body(fd, 3000000);
	answer = client_read_all(fd);
	assert_int_equal(status_of(answer), 401);
	free(answer);
	close(fd);
}

static void an_early_answer_to_a_whole_body_keeps_the_connection(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	char *answer;

	client_send(fd, POST("/s/early", "Content-Length: 3\r\n") "abc");
	answer = client_read(fd, "0\r\n\r\n", 1);
	free(answer);
	expect_alive(fd);
	close(fd);
}

/* --- bodies that fail ----------------------------------------------------- */

static void a_malformed_chunk_is_a_400(void **state)
{
	struct stream_world *w = *state;
	char *answer = exchange(state, POST("/s/count", CHUNKED) "3\r\nabcX");

	assert_int_equal(status_of(answer), 400);
	stream_wait(&w->aborted, 1);
	assert_int_equal(atomic_load(&w->ended), 0);
	free(answer);
}

static void a_malformed_chunk_breaks_off_an_answer(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	char *answer;

	client_send(fd, POST("/s/echo", CHUNKED) "3\r\nabc");
	free(client_read(fd, "abc\r\n", 1));
	client_send(fd, "X");
	answer = client_read_all(fd);
	close(fd);
	assert_string_equal(answer ? answer : "", "");
	stream_wait(&w->aborted, 1);
	free(answer);
}

static void a_trailer_is_a_400(void **state)
{
	char *answer = exchange(
		state, POST("/s/count", CHUNKED) "1\r\na\r\n0\r\nA: b\r\n\r\n");

	assert_int_equal(status_of(answer), 400);
	free(answer);
}

static void a_client_that_goes_is_told_once(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);

	client_send(fd, POST("/s/count", "Content-Length: 10\r\n") "abc");
	world_wait_handled(&w->base, 1);
	close(fd);
	stream_wait(&w->aborted, 1);
	usleep(50000);
	assert_int_equal(atomic_load(&w->aborted), 1);
	assert_int_equal(atomic_load(&w->ended), 0);
}

static void a_request_outlives_its_client(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	const struct linger reset = {.l_onoff = 1};

	client_send(fd, POST("/s/hold", "Content-Length: 10\r\n") "abc");
	world_wait_handled(&w->base, 1);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(fd);
	stream_wait(&w->aborted, 1);
	world_post(&w->base, stream_let_go);
	for (int i = 0; i < 1000 && !atomic_load(&w->gone); i++)
		usleep(1000);
	assert_true(atomic_load(&w->gone));
}

static void a_request_outlives_its_listener(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);

	client_send(fd, POST("/s/hold", "Content-Length: 10\r\n") "abc");
	world_wait_handled(&w->base, 1);
	/* stream_teardown frees the listener, then ends the request. */
	close(fd);
}

static void a_body_that_stops_is_a_408(void **state)
{
	struct stream_world *w = *state;
	char *answer =
		exchange(state, POST("/s/count", "Content-Length: 9\r\n") "a");

	assert_int_equal(status_of(answer), 408);
	assert_int_equal(atomic_load(&w->aborted), 1);
	free(answer);
}

static void a_body_may_take_longer_than_body_timeout(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	char *answer;

	client_send(fd, POST("/s/count", "Content-Length: 6\r\n"));
	for (int i = 0; i < 6; i++) {
		usleep(100000);
		client_send(fd, "x");
	}
	answer = client_read(fd, "\r\n\r\n6", 1);
	assert_int_equal(status_of(answer), 200);
	free(answer);
	close(fd);
}

static void a_handler_may_pause_longer_than_any_timeout(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	char *answer;

	client_send(fd, POST("/s/hold", "Content-Length: 3\r\n") "abc");
	usleep(600000);
	world_post(&w->base, stream_let_go);
	answer = client_read(fd, "\r\n\r\n3", 1);
	assert_int_equal(status_of(answer), 200);
	free(answer);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STREAM(a_body_with_a_length_is_streamed),
		STREAM(a_chunked_body_is_streamed),
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
		STREAM(an_answer_before_the_body_closes),
		STREAM(an_answer_within_the_body_closes),
		STREAM(a_streamed_answer_may_end_before_the_body),
		STREAM(a_client_may_still_send_when_it_is_refused),
		STREAM(an_early_answer_to_a_whole_body_keeps_the_connection),
		STREAM(a_malformed_chunk_is_a_400),
		STREAM(a_malformed_chunk_breaks_off_an_answer),
		STREAM(a_trailer_is_a_400),
		STREAM(a_client_that_goes_is_told_once),
		STREAM(a_request_outlives_its_client),
		STREAM(a_request_outlives_its_listener),
		STREAM_IMPATIENT(a_body_that_stops_is_a_408),
		STREAM_IMPATIENT(a_body_may_take_longer_than_body_timeout),
		STREAM_IMPATIENT(a_handler_may_pause_longer_than_any_timeout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
