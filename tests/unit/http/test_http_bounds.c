/* Slow clients, too many clients, and the end of a listener. */
#include "world.h"

#define IMPATIENT(name)                                                        \
	cmocka_unit_test_setup_teardown(name, world_setup_impatient,           \
					world_teardown)

/* How long what a busy machine does late is waited for. */
#define PATIENCE_MS 60000

static uint64_t refused(struct world *w, const char *reason)
{
	char labels[64];

	snprintf(labels, sizeof(labels), "listener=\"test\",reason=\"%s\"",
		 reason);
	return metric_value(metrics_counter(
		w->metrics, "shortloop_http_refused_total", labels, ""));
}

static uint64_t open_connections(struct world *w)
{
	return metric_value(metrics_gauge(w->metrics,
					  "shortloop_http_connections",
					  "listener=\"test\"", ""));
}

static int64_t ms_until_closed(int fd)
{
	int64_t start = clock_monotonic_ms();

	free(client_read_all(fd));
	return clock_monotonic_ms() - start;
}

/* --- timeouts ------------------------------------------------------------- */

static void slow_headers_are_a_408(void **state)
{
	char *answer = client_exchange(*state, "GET / HTTP/1.1\r\nHost:");

	assert_int_equal(status_of(answer), 408);
	assert_int_equal(refused(*state, "too_slow"), 1);
	free(answer);
}

static void a_byte_now_and_then_does_not_put_the_timeout_off(void **state)
{
	int fd = client_connect(*state);
	const char *text = GET("/a-path-longer-than-the-patience");
	char *answer;

	for (; *text; text++) {
		client_send(fd, (const char[]){*text, '\0'});
		usleep(10000);
	}
	answer = client_read_all(fd);
	assert_int_equal(status_of(answer), 408);
	free(answer);
	close(fd);
}

static void a_slow_body_is_a_408(void **state)
{
	char *answer = client_exchange(*state, "POST / HTTP/1.1\r\nHost: a\r\n"
					       "Content-Length: 10\r\n\r\nabc");

	assert_int_equal(status_of(answer), 408);
	free(answer);
}

static void each_request_has_the_whole_header_timeout(void **state)
{
	int fd = client_connect(*state);

	for (int i = 0; i < 4; i++) {
		client_send(fd, "GET /a HTTP/1.1\r\n");
		usleep(100000);
		client_send(fd, "Host: a\r\n\r\n");
		free(client_read(fd, "GET\n/a\n\n\n", 1));
	}
	close(fd);
	assert_int_equal(refused(*state, "too_slow"), 0);
}

static void an_idle_connection_is_closed_silently(void **state)
{
	int fd = client_connect(*state);
	char *answer;

	client_send(fd, GET("/a"));
	free(client_read(fd, "GET\n/a\n\n\n", 1));
	answer = client_read_all(fd);
	assert_null(answer && *answer ? answer : NULL);
	free(answer);
	close(fd);
}

static void a_connection_without_request_is_closed(void **state)
{
	int fd = client_connect(*state);

	assert_in_range(ms_until_closed(fd), 350, 3000);
	close(fd);
}

static void a_handler_may_take_longer_than_any_timeout(void **state)
{
	struct world *w = *state;
	int fd = client_connect(w);
	char *answer;

	client_send(fd, GET("/hold"));
	world_wait_handled(w, 1);
	usleep(600000);
	world_let_go(w);
	answer = client_read(fd, "GET\n/hold\n\n\n", 1);
	assert_int_equal(status_of(answer), 200);
	free(answer);
	close(fd);
}

static void a_client_that_takes_nothing_is_dropped(void **state)
{
	struct world *w = *state;
	int fd = client_connect(w);

	client_send(fd, GET("/big") GET("/big"));
	world_wait_handled(w, 1);
	assert_int_equal(open_connections(w), 1);
	for (int i = 0; i < 100 && open_connections(w); i++)
		usleep(50000);
	assert_int_equal(open_connections(w), 0);
	close(fd);
}

static void a_client_that_takes_little_by_little_is_served(void **state)
{
	struct world *w = *state;
	int fd = client_connect(w);
	size_t total = 0;
	char chunk[65536];
	ssize_t n;

	client_send(fd, "GET /big HTTP/1.1\r\nHost: a\r\n"
			"Connection: close\r\n\r\n");
	while ((n = recv(fd, chunk, sizeof(chunk), 0)) > 0) {
		total += (size_t)n;
		usleep(10000);
	}
	assert_true(total > BIG);
	close(fd);
}

/* --- connections ---------------------------------------------------------- */

static void a_connection_too_many_is_a_503(void **state)
{
	struct world *w = *state;
	int first = client_connect(w), second = client_connect(w);
	char *answer = client_exchange(w, GET("/"));

	assert_int_equal(status_of(answer), 503);
	assert_int_equal(refused(w, "overload"), 1);
	free(answer);
	close(first);
	close(second);
}

static void a_place_is_free_again_after_a_close(void **state)
{
	struct world *w = *state;
	int first = client_connect(w), second = client_connect(w);
	char *answer;
	int status = 503;

	close(first);
	/* It is free once the server has seen that. */
	for (int i = 0; i < PATIENCE_MS && status == 503; i++) {
		usleep(1000);
		answer = client_exchange(w, "GET / HTTP/1.0\r\n\r\n");
		status = status_of(answer);
		free(answer);
	}
	assert_int_equal(status, 200);
	close(second);
}

static void a_flood_of_connections_is_bounded(void **state)
{
	struct world *w = *state;
	int fds[60];

	for (int i = 0; i < 60; i++)
		fds[i] = client_connect(w);
	/* Two are served, sixteen more may be told why not, the rest go. */
	for (int i = 0; i < PATIENCE_MS && refused(w, "overload") < 60 - 18;
	     i++)
		usleep(1000);
	/* Those who were told why are counted, too, once they have been. */
	assert_in_range(refused(w, "overload"), 60 - 18, 60 - 2);
	/* None is left once their time to ask is over. */
	assert_in_range(open_connections(w), 0, 18);
	for (int i = 0; i < 60; i++)
		close(fds[i]);
}

static uint64_t buffer_bytes(struct world *w)
{
	return metric_value(metrics_gauge(w->metrics,
					  "shortloop_http_buffer_bytes",
					  "listener=\"test\"", ""));
}

/* A connection in the middle of a body of that many bytes. */
static int half_a_body(struct world *w, size_t sent)
{
	char *body = calloc(1, sent + 1);
	int fd = client_connect(w);

	memset(body, 'x', sent);
	client_send(fd, "POST /a HTTP/1.1\r\nHost: a\r\n"
			"Content-Length: 100000\r\n\r\n");
	client_send(fd, body);
	free(body);
	usleep(50000);
	return fd;
}

static void bodies_together_are_bounded(void **state)
{
	struct world *w = *state;
	int first = half_a_body(w, 90000), second = half_a_body(w, 90000);
	char *answer = client_read_all(second);

	assert_int_equal(status_of(answer), 503);
	assert_non_null(strstr(answer, "\r\nRetry-After: 1\r\n"));
	free(answer);
	close(first);
	close(second);
}

static void memory_of_bodies_is_given_back(void **state)
{
	struct world *w = *state;
	int fd = half_a_body(w, 90000);

	assert_true(buffer_bytes(w) >= 90000 - 16384);
	close(fd);
	usleep(50000);
	assert_int_equal(buffer_bytes(w), 0);
}

/* --- drain ---------------------------------------------------------------- */

static void on_drained(void *arg)
{
	struct world *w = arg;

	atomic_store(&w->drained, true);
}

static void drain_on_loop(void *arg)
{
	struct world *w = arg;

	http_listener_drain(w->listener, 300, on_drained, w);
}

static bool is_drained_within(struct world *w, int ms)
{
	for (int i = 0; i < ms && !atomic_load(&w->drained); i++)
		usleep(1000);
	return atomic_load(&w->drained);
}

static void a_drain_without_connections_is_done_at_once(void **state)
{
	struct world *w = *state;

	world_post(w, drain_on_loop);
	assert_true(is_drained_within(w, 200));
}

static void a_drain_closes_idle_connections(void **state)
{
	struct world *w = *state;
	int fd = client_connect(w);

	client_send(fd, GET("/a"));
	free(client_read(fd, "GET\n/a\n\n\n", 1));
	world_post(w, drain_on_loop);
	assert_true(ms_until_closed(fd) < 200);
	assert_true(is_drained_within(w, 200));
	close(fd);
}

static void a_drain_lets_the_present_request_finish(void **state)
{
	struct world *w = *state;
	int fd = client_connect(w);
	char *answer;

	client_send(fd, GET("/hold"));
	world_wait_handled(w, 1);
	world_post(w, drain_on_loop);
	usleep(50000);
	assert_false(atomic_load(&w->drained));
	world_let_go(w);
	answer = client_read_all(fd);
	assert_int_equal(status_of(answer), 200);
	assert_non_null(strstr(answer, "\r\nConnection: close\r\n"));
	assert_true(is_drained_within(w, 200));
	free(answer);
	close(fd);
}

static void a_drain_gives_up_after_its_timeout(void **state)
{
	struct world *w = *state;
	int fd = client_connect(w);

	client_send(fd, GET("/hold"));
	world_wait_handled(w, 1);
	world_post(w, drain_on_loop);
	assert_true(is_drained_within(w, 1000));
	close(fd);
}

static void a_drained_listener_refuses_connections(void **state)
{
	struct world *w = *state;
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(w->port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	world_post(w, drain_on_loop);
	assert_true(is_drained_within(w, 200));
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), -1);
	assert_int_equal(errno, ECONNREFUSED);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IMPATIENT(slow_headers_are_a_408),
		IMPATIENT(a_byte_now_and_then_does_not_put_the_timeout_off),
		IMPATIENT(a_slow_body_is_a_408),
		IMPATIENT(each_request_has_the_whole_header_timeout),
		IMPATIENT(an_idle_connection_is_closed_silently),
		IMPATIENT(a_connection_without_request_is_closed),
		IMPATIENT(a_handler_may_take_longer_than_any_timeout),
		IMPATIENT(a_client_that_takes_nothing_is_dropped),
		IMPATIENT(a_client_that_takes_little_by_little_is_served),
		IMPATIENT(a_connection_too_many_is_a_503),
		IMPATIENT(a_place_is_free_again_after_a_close),
		IMPATIENT(a_flood_of_connections_is_bounded),
		CASE(bodies_together_are_bounded),
		CASE(memory_of_bodies_is_given_back),
		CASE(a_drain_without_connections_is_done_at_once),
		CASE(a_drain_closes_idle_connections),
		CASE(a_drain_lets_the_present_request_finish),
		CASE(a_drain_gives_up_after_its_timeout),
		CASE(a_drained_listener_refuses_connections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
