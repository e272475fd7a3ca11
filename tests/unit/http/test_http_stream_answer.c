/* Answers that are sent while they are made. */
#include "stream_world.h"

static char *exchange_request(void **state, const char *text)
{
	struct stream_world *w = *state;

	return client_exchange(&w->base, text);
}

static void an_answer_is_chunked(void **state)
{
	char *answer = exchange_request(
		state, POST("/s/echo", "Connection: close\r\n"
				       "Content-Length: 5\r\n") "hello");

	assert_int_equal(status_of(answer), 200);
	assert_non_null(strstr(answer, "\r\nTransfer-Encoding: chunked\r\n"));
	assert_non_null(strstr(answer, "\r\nX-Kind: echo\r\n"));
	assert_null(strstr(answer, "Content-Length"));
	expect_body(answer, "00000005\r\nhello\r\n0\r\n\r\n");
	free(answer);
}

static void an_answer_may_be_empty(void **state)
{
	char *answer = exchange_request(
		state, POST("/s/echo", "Connection: close\r\n"));

	expect_body(answer, "0\r\n\r\n");
	free(answer);
}

static void http_1_0_gets_its_answer_until_the_close(void **state)
{
	char *answer =
		exchange_request(state, "POST /s/echo HTTP/1.0\r\n"
					"Connection: keep-alive\r\n"
					"Content-Length: 5\r\n\r\nhello");

	assert_non_null(strstr(answer, "\r\nConnection: close\r\n"));
	assert_null(strstr(answer, "chunked"));
	expect_body(answer, "hello");
	free(answer);
}

static void head_gets_no_body(void **state)
{
	char *answer =
		exchange_request(state, "HEAD /s/name HTTP/1.1\r\nHost: a\r\n"
					"Connection: close\r\n\r\n");

	assert_int_equal(status_of(answer), 200);
	expect_body(answer, "");
	free(answer);
}

static void an_answer_begins_before_the_body_has_come(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	char *answer;

	client_send(fd, POST("/s/echo", "Content-Length: 6\r\n") "abc");
	free(client_read(fd, "\r\nabc\r\n", 1));
	client_send(fd, "def");
	answer = client_read(fd, "\r\n0\r\n\r\n", 1);
	assert_non_null(strstr(answer, "def"));
	free(answer);
	close(fd);
}

static void the_connection_is_kept_after_a_stream(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	char *answer;

	for (int i = 0; i < 3; i++) {
		client_send(fd, POST("/s/echo", "Content-Length: 1\r\n") "a");
		answer = client_read(fd, "\r\n0\r\n\r\n", 1);
		assert_int_equal(status_of(answer), 200);
		assert_null(strstr(answer, "Connection:"));
		free(answer);
	}
	close(fd);
}

static void an_end_without_answer_is_a_500(void **state)
{
	char *answer = exchange_request(
		state, POST("/s/forget", "Connection: close\r\n"));

	assert_int_equal(status_of(answer), 500);
	free(answer);
}

/* --- memory --------------------------------------------------------------- */

static void a_slow_reader_holds_no_more_than_the_mark(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	size_t total = 0;
	char *chunk = malloc(1 << 20);
	ssize_t n;

	client_send(fd, POST("/s/fill", "Connection: close\r\n"));
	while ((n = recv(fd, chunk, 1 << 20, 0)) > 0) {
		total += (size_t)n;
		usleep(2000);
	}
	assert_true(total > FILL);
	assert_true(atomic_load(&w->most_pending) <
		    FILL_MARK + FILL_STEP + 256);
	free(chunk);
	close(fd);
}

static void a_client_that_takes_nothing_is_dropped(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);

	client_send(fd, POST("/s/fill", ""));
	stream_wait(&w->aborted, 1);
	assert_int_equal(atomic_load(&w->aborted), 1);
	close(fd);
}

static void a_client_that_goes_while_it_is_answered_is_told_once(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);

	client_send(fd, POST("/s/fill", ""));
	free(client_read(fd, "HTTP/1.1", 1));
	close(fd);
	stream_wait(&w->aborted, 1);
	usleep(50000);
	assert_int_equal(atomic_load(&w->aborted), 1);
}

static void drain_on_loop(void *arg);

/* --- answers without an end ----------------------------------------------- */

#define LIVE "GET /s/live HTTP/1.1\r\nHost: a\r\n\r\n"

static void a_piece_leaves_at_once(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);

	client_send(fd, LIVE);
	free(client_read(fd, "00000005\r\nhello\r\n", 1));
	for (int i = 0; i < 3; i++) {
		char *piece;

		world_post(&w->base, stream_say);
		piece = client_read(fd, "word\r\n", 1);
		assert_string_equal(piece, "00000006\r\na word\r\n");
		free(piece);
	}
	close(fd);
	stream_wait(&w->aborted, 1);
}

static void a_body_that_nobody_wants_is_dropped(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	char *answer;

	client_send(fd, POST("/s/live", "Content-Length: 500000\r\n"));
	send_body(fd, 500000);
	world_post(&w->base, stream_say);
	answer = client_read(fd, "a word\r\n", 1);
	assert_int_equal(status_of(answer), 200);
	free(answer);
	close(fd);
}

static void a_quiet_answer_outlives_every_timeout(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);

	client_send(fd, LIVE);
	free(client_read(fd, "hello\r\n", 1));
	usleep(1000000);
	world_post(&w->base, stream_say);
	free(client_read(fd, "a word\r\n", 1));
	assert_int_equal(atomic_load(&w->aborted), 0);
	close(fd);
}

/* The whole answer is in the buffers of two kernels: only they can notice that
 * the client reads none of it. */
static void a_client_that_only_its_kernel_answers_for_is_dropped(void **state)
{
	struct stream_world *w = *state;
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(w->base.port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0), little = 4096;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof(little));
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	client_send(fd, "GET /s/quiet HTTP/1.1\r\nHost: a\r\n\r\n");
	for (int i = 0; i < 20000 && !atomic_load(&w->aborted); i++)
		usleep(1000);
	assert_int_equal(atomic_load(&w->aborted), 1);
	close(fd);
}

static void a_client_that_leaves_a_quiet_answer_is_noticed(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);

	client_send(fd, LIVE);
	free(client_read(fd, "hello\r\n", 1));
	close(fd);
	stream_wait(&w->aborted, 1);
}

/* The client's FIN comes after the bytes it has already sent. */
static void a_client_that_leaves_after_more_requests_is_noticed(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);

	client_send(fd, LIVE GET("/more"));
	free(client_read(fd, "hello\r\n", 1));
	client_send(fd, GET("/still-more"));
	close(fd);
	stream_wait(&w->aborted, 1);
}

static void an_answer_without_end_ends_at_a_drain(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	char *answer;

	client_send(fd, LIVE);
	answer = client_read(fd, "hello\r\n", 1);
	free(answer);
	world_post(&w->base, drain_on_loop);
	answer = client_read_all(fd);
	assert_string_equal(answer, "0\r\n\r\n");
	free(answer);
	close(fd);
}

/* In HTTP/1.0 the end of the connection is the end of the answer. */
static void a_broken_answer_to_http_1_0_is_reset(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	char chunk[512];
	ssize_t n;

	client_send(fd, "GET /s/break HTTP/1.0\r\n\r\n");
	while ((n = recv(fd, chunk, sizeof(chunk), 0)) > 0)
		;
	assert_int_equal(n, -1);
	assert_int_equal(errno, ECONNRESET);
	close(fd);
}

/* --- drain ---------------------------------------------------------------- */

static void drain_on_loop(void *arg)
{
	struct stream_world *w = arg;

	http_listener_drain(w->base.listener, CLOCK_HOUR, world_on_drained,
			    &w->base);
}

static void drain_soon_on_loop(void *arg)
{
	struct stream_world *w = arg;

	http_listener_drain(w->base.listener, 300, world_on_drained, &w->base);
}

static void a_drain_lets_a_stream_finish(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);
	char *answer;

	client_send(fd, POST("/s/echo", "Content-Length: 6\r\n") "abc");
	free(client_read(fd, "\r\nabc\r\n", 1));
	world_post(&w->base, drain_on_loop);
	usleep(50000);
	client_send(fd, "def");
	answer = client_read_all(fd);
	assert_non_null(strstr(answer, "def\r\n0\r\n\r\n"));
	assert_true(world_is_drained(&w->base));
	free(answer);
	close(fd);
}

static void a_drain_does_not_wait_for_ever(void **state)
{
	struct stream_world *w = *state;
	int fd = client_connect(&w->base);

	client_send(fd, POST("/s/echo", "Content-Length: 6\r\n") "abc");
	free(client_read(fd, "\r\nabc\r\n", 1));
	world_post(&w->base, drain_soon_on_loop);
	assert_true(world_is_drained(&w->base));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STREAM(an_answer_is_chunked),
		STREAM(an_answer_may_be_empty),
		STREAM(http_1_0_gets_its_answer_until_the_close),
		STREAM(head_gets_no_body),
		STREAM(an_answer_begins_before_the_body_has_come),
		STREAM(the_connection_is_kept_after_a_stream),
		STREAM(an_end_without_answer_is_a_500),
		STREAM(a_slow_reader_holds_no_more_than_the_mark),
		STREAM_IMPATIENT(a_client_that_takes_nothing_is_dropped),
		STREAM(a_client_that_goes_while_it_is_answered_is_told_once),
		STREAM(a_piece_leaves_at_once),
		STREAM(a_body_that_nobody_wants_is_dropped),
		STREAM_IMPATIENT(a_quiet_answer_outlives_every_timeout),
		STREAM_IMPATIENT(
			a_client_that_only_its_kernel_answers_for_is_dropped),
		STREAM(a_client_that_leaves_a_quiet_answer_is_noticed),
		STREAM(a_client_that_leaves_after_more_requests_is_noticed),
		STREAM(an_answer_without_end_ends_at_a_drain),
		STREAM(a_broken_answer_to_http_1_0_is_reset),
		STREAM(a_drain_lets_a_stream_finish),
		STREAM(a_drain_does_not_wait_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
