/* Answers, clients that close before they get one, and ports. */
#include <netdb.h>

#include "common/http/address.h"
#include "world.h"

/* --- answers -------------------------------------------------------------- */

static void head_counts_the_body_but_does_not_send_it(void **state)
{
	char *answer = client_exchange(*state, "HEAD /a HTTP/1.1\r\nHost: a\r\n"
					       "Connection: close\r\n\r\n");

	assert_non_null(strstr(answer, "\r\nContent-Length: 10\r\n"));
	expect_body(answer, "");
	free(answer);
}

static void every_answer_has_a_date(void **state)
{
	char *answer = get_then_close(*state, "");
	const char *date = strstr(answer, "\r\nDate: ");

	assert_non_null(date);
	assert_memory_equal(date + 33, " GMT\r\n", 6);
	free(answer);
}

static void put_every(const struct http_request *req, struct buf *lines,
		      void *arg)
{
	struct http_slice origin = http_header_get(req, "Origin");

	(void)arg;
	buf_printf(lines, "Every: %.*s\r\n", (int)origin.len, origin.data);
}

static void expect_every(struct world *w, const char *request, int status,
			 bool expected)
{
	char *answer = client_exchange(w, request);

	assert_int_equal(status_of(answer), status);
	assert_int_equal(strstr(answer, "\r\nEvery: b\r\n") != NULL, expected);
	free(answer);
}

static void every_answer_has_the_listeners_fields(void **state)
{
	struct world *w = *state;

	loop_stop(w->loop);
	pthread_join(w->thread, NULL);
	http_listener_fields(w->listener, put_every);
	world_run(w);
	expect_every(w,
		     "GET /a HTTP/1.1\r\nHost: a\r\nOrigin: b\r\n"
		     "Connection: close\r\n\r\n",
		     200, true);
	expect_every(w,
		     "POST /a HTTP/1.1\r\nHost: a\r\nOrigin: b\r\n"
		     "Content-Length: 1000000\r\n\r\n",
		     413, true);
	/* The Origin is unknown before the end of the headers. */
	expect_every(w,
		     "GET /a HTTP/1.1\r\nHost: a\r\nOrigin: b\r\n"
		     "Host: c\r\n\r\n",
		     400, false);
}

static void a_waiting_client_is_told_to_continue(void **state)
{
	int fd = client_connect(*state);
	char *answer;

	client_send(fd, "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
			"Expect: 100-continue\r\n\r\n");
	answer = client_read(fd, "HTTP/1.1 100 Continue\r\n\r\n", 1);
	assert_int_equal(status_of(answer), 100);
	free(answer);
	client_send(fd, "abc");
	answer = client_read(fd, "POST\n/a\n\nabc\n", 1);
	assert_int_equal(status_of(answer), 200);
	free(answer);
	close(fd);
}

static void a_body_too_long_is_refused_instead_of_continued(void **state)
{
	char *answer = client_exchange(
		*state, "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
			"Content-Length: 1000000\r\n\r\n");

	assert_int_equal(status_of(answer), 413);
	free(answer);
}

static void no_continue_for_a_body_that_is_there(void **state)
{
	char *answer = client_exchange(
		*state, "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
			"Connection: close\r\nContent-Length: 3\r\n\r\nabc");

	assert_int_equal(status_of(answer), 200);
	free(answer);
}

static void a_large_answer_arrives_whole(void **state)
{
	int fd = client_connect(*state);
	char *answer;
	size_t total = 0;
	char chunk[65536];
	ssize_t n;

	client_send(fd, "GET /big HTTP/1.1\r\nHost: a\r\n"
			"Connection: close\r\n\r\n");
	answer = client_read(fd, "\r\n\r\n", 1);
	assert_non_null(strstr(answer, "Content-Length: 4194304\r\n"));
	free(answer);
	usleep(50000);
	while ((n = recv(fd, chunk, sizeof(chunk), 0)) > 0)
		total += (size_t)n;
	assert_true(total > BIG - 4096);
	close(fd);
}

static void pipelined_large_answers_are_made_one_by_one(void **state)
{
	struct world *w = *state;
	int fd = client_connect(w);

	client_send(fd, GET("/big") GET("/big") GET("/big") GET("/big"));
	world_wait_handled(w, 1);
	usleep(100000);
	/* The client reads nothing: the other requests must wait, unparsed. */
	assert_in_range(atomic_load(&w->handled), 1, 2);
	close(fd);
}

/* --- clients that close --------------------------------------------------- */

static void count_on_loop(void *arg)
{
	struct world *w = arg;

	atomic_fetch_add(&w->handled, 1);
}

static void wait_told_gone(struct world *w)
{
	for (int i = 0; i < PATIENCE_MS && !atomic_load(&w->told_gone); i++)
		usleep(1000);
	assert_int_equal(atomic_load(&w->told_gone), 1);
}

static void a_client_gone_before_the_answer_is_noticed(void **state)
{
	struct world *w = *state;
	struct linger reset = {.l_onoff = 1};
	int fd = client_connect(w);

	client_send(fd, GET("/watch"));
	world_wait_handled(w, 1);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(fd);
	wait_told_gone(w);
	/* The handler answers nevertheless; the answer is dropped. */
	world_let_go(w);
	world_post(w, count_on_loop);
	world_wait_handled(w, 2);
}

static void freeing_the_listener_keeps_a_held_request_valid(void **state)
{
	struct world *w = *state;
	int fd = client_connect(w);

	client_send(fd, GET("/hold"));
	world_wait_handled(w, 1);
	/* The teardown frees the listener, then answers. */
	close(fd);
}

static void a_rest_sent_while_the_handler_works_is_kept(void **state)
{
	struct world *w = *state;
	int fd = client_connect(w);
	char *answer;

	client_send(fd, GET("/hold"));
	world_wait_handled(w, 1);
	client_send(fd, GET("/next"));
	usleep(20000);
	world_let_go(w);
	answer = client_read(fd, "HTTP/1.1 200 OK", 2);
	assert_int_equal(count_occurrences(answer, "HTTP/1.1 200 OK"), 2);
	free(answer);
	close(fd);
}

/* --- ports ---------------------------------------------------------------- */

static void bytes_behind_a_last_request_do_not_cost_its_answer(void **state)
{
	struct world *w = *state;
	int fd = client_connect(w);
	char *answer;

	client_send(fd, "GET /hold HTTP/1.1\r\nHost: a\r\n"
			"Connection: close\r\n\r\n");
	world_wait_handled(w, 1);
	client_send(fd, "\r\nmore");
	world_let_go(w);
	usleep(50000);
	answer = client_read_all(fd);
	/* If the server had closed with unread bytes, this would be a reset. */
	assert_int_equal(send(fd, "x", 1, MSG_NOSIGNAL), 1);
	assert_int_equal(status_of(answer), 200);
	free(answer);
	close(fd);
}

static void two_listeners_share_a_port(void **state)
{
	struct world *w = *state;
	char address[32];
	struct http_listener *second;

	snprintf(address, sizeof(address), "127.0.0.1:%u", w->port);
	second = http_listener_new(w->loop, address, &w->config, world_handle,
				   w, NULL, "second", &w->err);
	assert_non_null(second);
	http_listener_free(second);
}

static void a_port_in_use_is_found_where_it_is_not_shared(void **state)
{
	struct world *w = *state;
	char address[32];
	int fd;

	snprintf(address, sizeof(address), "127.0.0.1:%u", w->port);
	assert_int_equal(address_bind(address, false, &fd, &w->err), -1);
	assert_int_equal(w->err.code, ERROR_SYSTEM);
	assert_non_null(strstr(w->err.text, address));
}

static bool can_connect(const char *host, int port)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST,
				       .ai_socktype = SOCK_STREAM};
	struct addrinfo *at;
	char text[8];
	int fd, result;

	snprintf(text, sizeof(text), "%d", port);
	assert_int_equal(getaddrinfo(host, text, &hints, &at), 0);
	fd = socket(at->ai_family, SOCK_STREAM, 0);
	result = connect(fd, at->ai_addr, at->ai_addrlen);
	close(fd);
	freeaddrinfo(at);
	return result == 0;
}

static bool has_ipv6(void)
{
	struct error err;
	int fd;

	if (address_bind("[::1]:0", false, &fd, &err) < 0)
		return false;
	close(fd);
	return true;
}

static void no_host_stands_for_every_address(void **state)
{
	struct world *w = *state;
	struct sockaddr_in6 at = {0};
	socklen_t len = sizeof(at);
	int fd;

	assert_int_equal(address_bind(":0", false, &fd, &w->err), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	/* The port of an IPv4 address is at the same place. */
	assert_true(can_connect("127.0.0.1", ntohs(at.sin6_port)));
	if (has_ipv6())
		assert_true(can_connect("::1", ntohs(at.sin6_port)));
	close(fd);
}

static void an_address_without_port_is_a_config_error(void **state)
{
	struct world *w = *state;
	int fd;

	assert_int_equal(address_bind("localhost", false, &fd, &w->err), -1);
	assert_int_equal(w->err.code, ERROR_CONFIG);
}

static void loopback_is_what_only_this_host_reaches(void **state)
{
	static const char *const within[] = {
		"127.0.0.1:80", "127.8.9.1:0",		 "localhost:8082",
		"[::1]:8082",	"[::ffff:127.0.0.1]:80",
	};
	static const char *const beyond[] = {"0.0.0.0:80",	 ":8082",
					     "[::]:80",		 "10.0.0.1:1",
					     "[2001:db8::1]:80", "localhost"};

	(void)state;
	for (size_t i = 0; i < sizeof(within) / sizeof(within[0]); i++)
		assert_true(http_address_is_loopback(within[i]));
	for (size_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++)
		assert_false(http_address_is_loopback(beyond[i]));
}

/* --- clients that close --------------------------------------------------- */

static void who_handles_a_request_may_be_told_that_the_client_goes(void **state)
{
	struct world *w = *state;
	int fd = client_connect(w);

	client_send(fd, GET("/watch") GET("/behind"));
	world_wait_handled(w, 1);
	close(fd);
	wait_told_gone(w);
	world_let_go(w);
}

static void who_closes_its_side_only_is_still_answered(void **state)
{
	struct world *w = *state;
	int fd = client_connect(w);
	char *answer;

	client_send(fd, GET("/watch"));
	shutdown(fd, SHUT_WR);
	wait_told_gone(w);
	world_let_go(w);
	answer = client_read_all(fd);
	assert_int_equal(status_of(answer), 200);
	assert_int_equal(atomic_load(&w->told_gone), 1);
	free(answer);
	close(fd);
}

static void nobody_is_told_of_a_client_that_goes_after_its_answer(void **state)
{
	struct world *w = *state;
	int fd = client_connect(w);

	client_send(fd, GET("/watch"));
	world_wait_handled(w, 1);
	world_let_go(w);
	free(client_read(fd, "GET\n/watch\n\n\n", 1));
	client_send(fd, GET("/hold"));
	world_wait_handled(w, 2);
	close(fd);
	/* This request comes after the close was noticed. */
	free(client_exchange(
		w, "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
	world_let_go(w);
	assert_int_equal(atomic_load(&w->told_gone), 0);
}

static void who_waits_is_told_when_the_listener_goes(void **state)
{
	struct world *w = *state;
	int fd = client_connect(w);

	client_send(fd, GET("/watch"));
	world_wait_handled(w, 1);
	world_stop(w);
	assert_int_equal(atomic_load(&w->told_gone), 1);
	world_free(w);
	*state = calloc(1, sizeof(*w));
	w = *state;
	world_configure(w);
	world_start(w);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(head_counts_the_body_but_does_not_send_it),
		CASE(every_answer_has_a_date),
		CASE(every_answer_has_the_listeners_fields),
		CASE(a_waiting_client_is_told_to_continue),
		CASE(a_body_too_long_is_refused_instead_of_continued),
		CASE(no_continue_for_a_body_that_is_there),
		CASE(a_large_answer_arrives_whole),
		CASE(pipelined_large_answers_are_made_one_by_one),
		CASE(a_client_gone_before_the_answer_is_noticed),
		CASE(who_handles_a_request_may_be_told_that_the_client_goes),
		CASE(who_closes_its_side_only_is_still_answered),
		CASE(nobody_is_told_of_a_client_that_goes_after_its_answer),
		CASE(who_waits_is_told_when_the_listener_goes),
		CASE(freeing_the_listener_keeps_a_held_request_valid),
		CASE(a_rest_sent_while_the_handler_works_is_kept),
		CASE(bytes_behind_a_last_request_do_not_cost_its_answer),
		CASE(two_listeners_share_a_port),
		CASE(a_port_in_use_is_found_where_it_is_not_shared),
		CASE(no_host_stands_for_every_address),
		CASE(an_address_without_port_is_a_config_error),
		cmocka_unit_test(loopback_is_what_only_this_host_reaches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
