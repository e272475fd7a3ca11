/* Slow clients, too many clients, and the end of a listener. */
#include "world.h"

#include <sys/resource.h>

#include "common/http/address.h"
#include "common/http/idle.h"

#define IMPATIENT(name)                                                        \
	cmocka_unit_test_setup_teardown(name, world_setup_impatient,           \
					world_teardown)

#define FEW(name, set_up)                                                      \
	cmocka_unit_test_setup_teardown(name, set_up, world_teardown)

enum {
	MANY = 200, /* connections */
};

static uint64_t read_refused_count(struct world *w, const char *reason)
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
	assert_int_equal(read_refused_count(*state, "too_slow"), 1);
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
		usleep(1000000);
		client_send(fd, "Host: a\r\n\r\n");
		free(client_read(fd, "GET\n/a\n\n\n", 1));
	}
	close(fd);
	assert_int_equal(read_refused_count(*state, "too_slow"), 0);
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

/* A request may begin with an empty line (RFC 9112, 2.2). */
static void line_ends_alone_do_not_put_the_timeout_off(void **state)
{
	int fd = client_connect(*state);
	int64_t start = clock_monotonic_ms();
	char byte;

	for (int i = 0; recv(fd, &byte, 1, MSG_DONTWAIT) < 0; i++) {
		assert_true(clock_monotonic_ms() - start < PATIENCE_MS / 4);
		send(fd, i % 2 ? "\n" : "\r", 1, MSG_NOSIGNAL);
		usleep(50000);
	}
	close(fd);
	assert_int_equal(read_refused_count(*state, "too_slow"), 0);
}

static void a_connection_without_request_is_closed(void **state)
{
	int fd = client_connect(*state);

	/* The connection ends by header_timeout, which is shorter than
	 * idle_timeout. */
	assert_in_range(ms_until_closed(fd), 200, CLIENT_PATIENCE_S * 1000 - 1);
	close(fd);
}

static void no_first_byte_is_waited_for_longer_than_for_headers(void **state)
{
	struct world *w = *state;
	int fd = client_connect(w);

	/* idle_timeout is an hour. */
	free(client_read_all(fd));
	for (int i = 0; i < PATIENCE_MS && open_connections(w); i++)
		usleep(1000);
	assert_int_equal(open_connections(w), 0);
	assert_int_equal(read_refused_count(w, "too_slow"), 0);
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
	size_t total = 0;
	char chunk[65536];
	ssize_t n;

	client_send(fd, GET("/big") GET("/big"));
	world_wait_handled(w, 1);
	for (int i = 0; i < PATIENCE_MS && open_connections(w); i++)
		usleep(1000);
	assert_int_equal(open_connections(w), 0);
	while ((n = recv(fd, chunk, sizeof(chunk), 0)) > 0)
		total += (size_t)n;
	assert_true(total < (size_t)2 * BIG);
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
		usleep(60000);
	}
	assert_true(total > BIG);
	close(fd);
}

/* --- connections ---------------------------------------------------------- */

/* The connection is within a request, and not idle. */
static int half_a_request(struct world *w)
{
	int fd = client_connect(w);

	client_send(fd, "GET /a HTTP/1.1\r\n");
	return fd;
}

/* The same, after the server has received it. */
static int half_a_request_seen(struct world *w)
{
	int fd = client_connect(w);

	client_send(fd, "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n"
			"Expect: 100-continue\r\n\r\n");
	free(client_read(fd, "100 Continue\r\n\r\n", 1));
	return fd;
}

static void a_connection_too_many_is_a_503(void **state)
{
	struct world *w = *state;
	int first = half_a_request_seen(w), second = half_a_request_seen(w);
	char *answer = client_exchange(w, GET("/"));

	assert_int_equal(status_of(answer), 503);
	assert_int_equal(read_refused_count(w, "overload"), 1);
	free(answer);
	close(first);
	close(second);
}

static void a_place_is_free_again_after_a_close(void **state)
{
	struct world *w = *state;
	int first = half_a_request_seen(w), second = half_a_request_seen(w);
	char *answer;
	int status = 503;

	close(first);
	/* The place is free once the server has noticed the close. */
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
		fds[i] = i < 2 ? half_a_request_seen(w) : half_a_request(w);
	/* Two are served, sixteen more get an answer with the reason, the rest
	 * are closed. */
	for (int i = 0;
	     i < PATIENCE_MS && read_refused_count(w, "overload") < 60 - 18;
	     i++)
		usleep(1000);
	/* Those with an answer are counted, too, once they have it. */
	assert_in_range(read_refused_count(w, "overload"), 60 - 18, 60 - 2);
	assert_in_range(open_connections(w), 0, 18);
	for (int i = 0; i < 60; i++)
		close(fds[i]);
}

/* --- idle connections are closed -------------------------------------------
 */

static uint64_t made_room(struct world *w)
{
	return metric_value(metrics_counter(w->metrics,
					    "shortloop_http_idle_closed_total",
					    "listener=\"test\"", ""));
}

static void await_open(struct world *w, uint64_t count)
{
	for (int i = 0; i < PATIENCE_MS && open_connections(w) != count; i++)
		usleep(1000);
	assert_int_equal(open_connections(w), count);
}

static void request_and_expect_answer(int fd)
{
	char *answer;

	client_send(fd, GET("/a"));
	answer = client_read(fd, "GET\n/a\n\n\n", 1);
	assert_int_equal(status_of(answer), 200);
	free(answer);
}

static bool is_closed(int fd)
{
	char byte;

	return recv(fd, &byte, 1, 0) == 0;
}

static void the_one_that_is_idle_longest_makes_room(void **state)
{
	struct world *w = *state;
	int silent = client_connect(w), kept, third, fourth;

	await_open(w, 1);
	kept = client_connect(w);
	request_and_expect_answer(kept);
	third = client_connect(w);
	request_and_expect_answer(third);
	assert_true(is_closed(silent));
	assert_int_equal(made_room(w), 1);
	request_and_expect_answer(kept);
	fourth = client_connect(w);
	request_and_expect_answer(fourth);
	assert_true(is_closed(kept));
	request_and_expect_answer(third);
	assert_int_equal(read_refused_count(w, "overload"), 0);
	close(silent);
	close(kept);
	close(third);
	close(fourth);
}

static void one_that_has_sent_a_line_end_makes_room(void **state)
{
	struct world *w = *state;
	int fds[3];

	for (int i = 0; i < 2; i++) {
		fds[i] = client_connect(w);
		client_send(fds[i], GET("/a") "\r");
		free(client_read(fds[i], "GET\n/a\n\n\n", 1));
	}
	fds[2] = client_connect(w);
	request_and_expect_answer(fds[2]);
	assert_int_equal(made_room(w), 1);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}

static void one_that_goes_on_asking_stays(void **state)
{
	struct world *w = *state;
	int busy = client_connect(w), idle, third;
	int64_t start = clock_monotonic_ms();

	request_and_expect_answer(busy);
	idle = client_connect(w);
	await_open(w, 2);
	/* The order of connections is only as precise as IDLE_GRAIN_MS. */
	while (clock_monotonic_ms() - start < 2 * IDLE_GRAIN_MS)
		request_and_expect_answer(busy);
	third = client_connect(w);
	request_and_expect_answer(third);
	assert_true(is_closed(idle));
	request_and_expect_answer(busy);
	close(busy);
	close(idle);
	close(third);
}

static void none_within_a_request_makes_room(void **state)
{
	struct world *w = *state;
	int held = client_connect(w), half;
	char *answer;

	client_send(held, GET("/hold"));
	world_wait_handled(w, 1);
	half = half_a_request(w);
	await_open(w, 2);
	for (int i = 0; i < 5; i++) {
		answer = client_exchange(w, GET("/a"));
		assert_int_equal(status_of(answer), 503);
		free(answer);
	}
	assert_int_equal(made_room(w), 0);
	client_send(half, "Host: a\r\n\r\n");
	free(client_read(half, "GET\n/a\n\n\n", 1));
	world_let_go(w);
	answer = client_read(held, "GET\n/hold\n\n\n", 1);
	assert_int_equal(status_of(answer), 200);
	free(answer);
	close(held);
	close(half);
}

struct blocking {
	atomic_bool blocked, ended;
};

static void block_loop(void *arg)
{
	struct blocking *b = arg;

	atomic_store(&b->blocked, true);
	while (!atomic_load(&b->ended))
		usleep(1000);
}

/* The request has arrived, but was not read yet. */
static void one_that_has_just_asked_does_not_make_room(void **state)
{
	struct world *w = *state;
	int first = client_connect(w), second = client_connect(w), third;
	struct blocking blocking = {false, false};
	struct error err;
	char *answer;

	request_and_expect_answer(first);
	request_and_expect_answer(second);
	assert_int_equal(loop_post(w->loop, block_loop, &blocking, &err), 0);
	while (!atomic_load(&blocking.blocked))
		usleep(1000);
	third = client_connect(w);
	client_send(third, GET("/a"));
	client_send(first, GET("/a"));
	client_send(second, GET("/a"));
	atomic_store(&blocking.ended, true);
	for (int i = 0; i < 2; i++) {
		answer = client_read(i ? second : first, "GET\n/a\n\n\n", 1);
		assert_int_equal(status_of(answer), 200);
		free(answer);
	}
	assert_int_equal(made_room(w), 0);
	close(first);
	close(second);
	close(third);
}

static void idle_ones_by_the_hundred_shut_nobody_out(void **state)
{
	struct world *w = *state;
	int fds[MANY], held;
	char *answer;

	for (int i = 0; i < MANY; i++) {
		fds[i] = client_connect(w);
		if (i % 2)
			request_and_expect_answer(fds[i]);
	}
	await_open(w, MANY);
	/* This connection replaces one of those. */
	held = client_connect(w);
	client_send(held, GET("/hold"));
	world_wait_handled(w, 1 + MANY / 2);
	for (int i = 0; i < 3 * MANY; i++) {
		int good = client_connect(w);

		request_and_expect_answer(good);
		close(good);
	}
	assert_int_equal(read_refused_count(w, "overload"), 0);
	world_let_go(w);
	answer = client_read(held, "GET\n/hold\n\n\n", 1);
	assert_int_equal(status_of(answer), 200);
	free(answer);
	close(held);
	for (int i = 0; i < MANY; i++)
		close(fds[i]);
}

static void one_that_is_idle_gives_up_its_descriptor(void **state)
{
	struct world *w = *state;
	int idle = client_connect(w), other, free_fd;
	struct rlimit before, none;
	char *answer;

	request_and_expect_answer(idle);
	other = socket(AF_INET, SOCK_STREAM, 0);
	free_fd = dup(other);
	close(free_fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = (rlim_t)free_fd;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	client_connect_by(w, other);
	client_send(other, GET("/a"));
	answer = client_read(other, "GET\n/a\n\n\n", 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_non_null(answer);
	assert_int_equal(status_of(answer), 200);
	free(answer);
	assert_true(is_closed(idle));
	close(idle);
	close(other);
}

/* -------------------------------------------------------------------------- */

static uint64_t buffer_bytes(struct world *w)
{
	return metric_value(metrics_gauge(w->metrics,
					  "shortloop_http_buffer_bytes",
					  "listener=\"test\"", ""));
}

/* Opens a connection that has sent this much of a body. */
static int half_a_body(struct world *w, size_t sent)
{
	char *body = calloc(1, sent + 1);
	int fd = client_connect(w);

	memset(body, 'x', sent);
	client_send(fd, "POST /a HTTP/1.1\r\nHost: a\r\n"
			"Content-Length: 100000\r\n\r\n");
	client_send(fd, body);
	free(body);
	/* The unread rest is less than one read of the server. */
	for (int i = 0; i < PATIENCE_MS && buffer_bytes(w) < sent - 16384; i++)
		usleep(1000);
	assert_true(buffer_bytes(w) >= sent - 16384);
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

	close(fd);
	for (int i = 0; i < PATIENCE_MS && buffer_bytes(w); i++)
		usleep(1000);
	assert_int_equal(buffer_bytes(w), 0);
}

/* --- drain ---------------------------------------------------------------- */

static void drain_on_loop(void *arg)
{
	struct world *w = arg;

	http_listener_drain(w->listener, CLOCK_HOUR, world_on_drained, w);
}

static void drain_soon_on_loop(void *arg)
{
	struct world *w = arg;

	http_listener_drain(w->listener, 300, world_on_drained, w);
}

static void a_drain_without_connections_is_done_at_once(void **state)
{
	struct world *w = *state;

	world_post(w, drain_on_loop);
	assert_true(world_is_drained(w));
}

static void a_drain_closes_idle_connections(void **state)
{
	struct world *w = *state;
	int fd = client_connect(w);

	client_send(fd, GET("/a"));
	free(client_read(fd, "GET\n/a\n\n\n", 1));
	world_post(w, drain_on_loop);
	assert_true(ms_until_closed(fd) < CLIENT_PATIENCE_S * 1000);
	assert_true(world_is_drained(w));
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
	assert_true(world_is_drained(w));
	free(answer);
	close(fd);
}

static void a_drain_gives_up_after_its_timeout(void **state)
{
	struct world *w = *state;
	int fd = client_connect(w);

	client_send(fd, GET("/hold"));
	world_wait_handled(w, 1);
	world_post(w, drain_soon_on_loop);
	assert_true(world_is_drained(w));
	close(fd);
}

static void drain_with_one_waiting(void *arg)
{
	struct world *w = arg;

	w->again = 3 * SOCKET_BACKLOG;
	world_ask_again(w);
	drain_on_loop(w);
}

static void a_drain_ends_while_others_come(void **state)
{
	struct world *w = *state;

	world_post(w, drain_with_one_waiting);
	assert_true(world_is_drained(w));
	assert_in_range(atomic_load(&w->handled), 1, SOCKET_BACKLOG);
}

static void a_drained_listener_refuses_connections(void **state)
{
	struct world *w = *state;
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(w->port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	world_post(w, drain_on_loop);
	assert_true(world_is_drained(w));
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), -1);
	assert_int_equal(errno, ECONNREFUSED);
	close(fd);
}

static int set_up(void **state, const struct http_config *config)
{
	struct world *w = calloc(1, sizeof(*w));

	w->config = *config;
	*state = w;
	world_start(w);
	return 0;
}

static int set_up_patient(void **state, int64_t max_connections,
			  int64_t header_timeout)
{
	struct http_config config = http_config_default;

	config.max_connections = max_connections;
	config.header_timeout = header_timeout;
	config.idle_timeout = CLOCK_HOUR;
	return set_up(state, &config);
}

static int set_up_two(void **state)
{
	return set_up_patient(state, 2, CLOCK_HOUR);
}

static int set_up_many(void **state)
{
	return set_up_patient(state, MANY, CLOCK_HOUR);
}

static int set_up_silence(void **state)
{
	return set_up_patient(state, 2, 250);
}

/* This is less than the whole test takes, and more than a second on a busy
 * machine. */
static int set_up_headers(void **state)
{
	return set_up_patient(state, 2, 3000);
}

/* The same for a client that takes four seconds to read an answer. */
static int set_up_answers(void **state)
{
	struct http_config config = http_config_default;

	config.write_timeout = 2500;
	return set_up(state, &config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IMPATIENT(slow_headers_are_a_408),
		IMPATIENT(a_byte_now_and_then_does_not_put_the_timeout_off),
		IMPATIENT(a_slow_body_is_a_408),
		FEW(each_request_has_the_whole_header_timeout, set_up_headers),
		IMPATIENT(an_idle_connection_is_closed_silently),
		IMPATIENT(line_ends_alone_do_not_put_the_timeout_off),
		IMPATIENT(a_connection_without_request_is_closed),
		IMPATIENT(a_handler_may_take_longer_than_any_timeout),
		IMPATIENT(a_client_that_takes_nothing_is_dropped),
		FEW(a_client_that_takes_little_by_little_is_served,
		    set_up_answers),
		FEW(a_connection_too_many_is_a_503, set_up_two),
		FEW(a_place_is_free_again_after_a_close, set_up_two),
		FEW(a_flood_of_connections_is_bounded, set_up_two),
		FEW(no_first_byte_is_waited_for_longer_than_for_headers,
		    set_up_silence),
		FEW(the_one_that_is_idle_longest_makes_room, set_up_two),
		FEW(one_that_has_sent_a_line_end_makes_room, set_up_two),
		FEW(one_that_goes_on_asking_stays, set_up_two),
		FEW(none_within_a_request_makes_room, set_up_two),
		FEW(one_that_has_just_asked_does_not_make_room, set_up_two),
		FEW(idle_ones_by_the_hundred_shut_nobody_out, set_up_many),
		FEW(one_that_is_idle_gives_up_its_descriptor, set_up_many),
		CASE(bodies_together_are_bounded),
		CASE(memory_of_bodies_is_given_back),
		CASE(a_drain_without_connections_is_done_at_once),
		CASE(a_drain_closes_idle_connections),
		CASE(a_drain_lets_the_present_request_finish),
		CASE(a_drain_gives_up_after_its_timeout),
		CASE(a_drain_ends_while_others_come),
		CASE(a_drained_listener_refuses_connections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
