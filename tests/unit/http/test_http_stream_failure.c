/* Streamed requests that end before their body does, or whose body never comes.
 */
#include "stream_world.h"

static char *exchange_request(void **state, const char *text)
{
	struct stream_world *w = *state;

	return client_exchange(&w->base, text);
}

/* --- ending early --------------------------------------------------------- */

static void an_answer_before_the_body_closes(void **state)
{
	struct stream_world *w = *state;
	char *answer = exchange_request(
		state,
		POST("/s/refuse", "Content-Length: 39\r\n") GET("/smuggled"));

	assert_int_equal(status_of(answer), 401);
	assert_int_equal(count_occurrences(answer, "HTTP/1.1 "), 1);
	assert_non_null(strstr(answer, "\r\nConnection: close\r\n"));
	assert_int_equal(atomic_load(&w->base.handled), 1);
	free(answer);
}

static void an_answer_within_the_body_closes(void **state)
{
	char *answer = exchange_request(
		state, POST("/s/refuse-later", "Content-Length: 90\r\n")
			       GET("/smuggled"));

	assert_int_equal(status_of(answer), 403);
	assert_int_equal(count_occurrences(answer, "HTTP/1.1 "), 1);
	free(answer);
}

static void a_streamed_answer_may_end_before_the_body(void **state)
{
	char *answer = exchange_request(
		state,
		POST("/s/early", "Content-Length: 90\r\n") GET("/smuggled"));

	assert_int_equal(status_of(answer), 200);
	assert_non_null(strstr(answer, "enough\r\n0\r\n\r\n"));
	assert_int_equal(count_occurrences(answer, "HTTP/1.1 "), 1);
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
	char *answer =
		exchange_request(state, POST("/s/count", CHUNKED) "3\r\nabcX");

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

static void an_answer_may_be_broken_off(void **state)
{
	struct stream_world *w = *state;
	char *answer = exchange_request(state, POST("/s/break", ""));
	const char *part = strstr(answer, "a part\r\n");

	assert_non_null(part);
	assert_string_equal(part, "a part\r\n");
	assert_int_equal(atomic_load(&w->aborted), 0);
	free(answer);
}

static void a_malformed_trailer_is_a_400(void **state)
{
	char *answer = exchange_request(
		state, POST("/s/count", CHUNKED) "1\r\na\r\n0\r\nA: b\n\r\n");

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
	for (int i = 0; i < PATIENCE_MS && !atomic_load(&w->let_go); i++)
		usleep(1000);
	assert_true(atomic_load(&w->let_go));
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
	char *answer = exchange_request(
		state, POST("/s/count", "Content-Length: 9\r\n") "a");

	assert_int_equal(status_of(answer), 408);
	stream_wait(&w->aborted, 1);
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
		usleep(500000);
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

/* This is less than six half seconds, and more than half a second on a busy
 * machine. */
static int set_up_bodies(void **state)
{
	struct stream_world *w = calloc(1, sizeof(*w));

	*state = w;
	world_configure_impatient(&w->base);
	w->base.config.body_timeout = 2500;
	return stream_start(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STREAM(an_answer_before_the_body_closes),
		STREAM(an_answer_within_the_body_closes),
		STREAM(a_streamed_answer_may_end_before_the_body),
		STREAM(a_client_may_still_send_when_it_is_refused),
		STREAM(an_early_answer_to_a_whole_body_keeps_the_connection),
		STREAM(a_malformed_chunk_is_a_400),
		STREAM(a_malformed_chunk_breaks_off_an_answer),
		STREAM(an_answer_may_be_broken_off),
		STREAM(a_malformed_trailer_is_a_400),
		STREAM(a_client_that_goes_is_told_once),
		STREAM(a_request_outlives_its_client),
		STREAM(a_request_outlives_its_listener),
		STREAM_IMPATIENT(a_body_that_stops_is_a_408),
		cmocka_unit_test_setup_teardown(
			a_body_may_take_longer_than_body_timeout, set_up_bodies,
			stream_teardown),
		STREAM_IMPATIENT(a_handler_may_pause_longer_than_any_timeout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
