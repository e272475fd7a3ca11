/* Connections that begin with a PROXY header, at a listener that expects one.
 */
#include "world.h"

#define V1     "PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n"
#define V2_FIX "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c"
#define V2     V2_FIX "\xc0\x00\x02\x07\xc6\x33\x64\x01\x12\x67\x01\xbb"
#define LAST(path)                                                             \
	"GET " path " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

struct proxied_world {
	struct world base;
	struct network_list *proxies;
	char why[128]; /* the reason of the last refusal */
	atomic_int told;
};

static void on_refused(const struct sockaddr_storage *peer, const char *why,
		       void *arg)
{
	struct proxied_world *w = arg;

	assert_int_equal(peer->ss_family, AF_INET);
	snprintf(w->why, sizeof(w->why), "%s", why);
	atomic_fetch_add(&w->told, 1);
}

static int set_up(void **state, const char *network, int64_t header_timeout)
{
	struct proxied_world *w = calloc(1, sizeof(*w));
	char text[64], *item = text;
	struct setting_strings networks = {&item, 1};

	snprintf(text, sizeof(text), "%s", network);
	world_configure(&w->base);
	w->base.config.max_connections = 3;
	w->base.config.header_timeout = header_timeout;
	world_open(&w->base);
	w->proxies = network_list_new(&networks, "test", &w->base.err);
	assert_non_null(w->proxies);
	http_listener_expect_proxy(w->base.listener, w->proxies, on_refused, w);
	world_run(&w->base);
	*state = w;
	return 0;
}

static int set_up_expected(void **state)
{
	return set_up(state, "127.0.0.0/8", 60000);
}

static int set_up_impatient(void **state)
{
	return set_up(state, "127.0.0.0/8", 100);
}

static int set_up_others(void **state)
{
	return set_up(state, "10.0.0.0/8", 60000);
}

static int tear_down(void **state)
{
	struct proxied_world *w = *state;

	world_stop(&w->base);
	network_list_free(w->proxies);
	world_free(&w->base);
	return 0;
}

static uint64_t read_refused_count(struct proxied_world *w, const char *reason)
{
	char labels[64];

	snprintf(labels, sizeof(labels), "listener=\"test\",reason=\"%s\"",
		 reason);
	return metric_value(metrics_counter(
		w->base.metrics, "shortloop_http_refused_total", labels, ""));
}

static void send_bytes(int fd, const char *bytes, size_t len)
{
	assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), len);
}

/* The bytes are sent at once, or in two parts with a pause between them. */
static void expect_peer(struct world *w, const char *bytes, size_t len,
			size_t cut, const char *peer)
{
	int fd = client_connect(w);
	char *answer;

	send_bytes(fd, bytes, cut);
	if (cut < len)
		usleep(1000);
	send_bytes(fd, bytes + cut, len - cut);
	answer = client_read_all(fd);
	assert_non_null(answer);
	assert_int_equal(status_of(answer), 200);
	expect_body(answer, peer);
	free(answer);
	close(fd);
}

static void the_peer_is_whom_the_header_names(void **state)
{
	static const char v1[] = V1 LAST("/peer"), v2[] = V2 LAST("/peer");

	for (size_t cut = 1; cut < sizeof(v1); cut++)
		expect_peer(*state, v1, sizeof(v1) - 1, cut, "192.0.2.7");
	for (size_t cut = 1; cut < sizeof(v2); cut++)
		expect_peer(*state, v2, sizeof(v2) - 1, cut, "192.0.2.7");
}

static void it_stays_the_peer_of_all_requests(void **state)
{
	int fd = client_connect(*state);
	char *answer;

	client_send(fd, V1);
	client_send(fd, GET("/peer") GET("/peer"));
	free(client_read(fd, "192.0.2.7", 2));
	client_send(fd, LAST("/peer"));
	answer = client_read_all(fd);
	expect_body(answer, "192.0.2.7");
	free(answer);
	close(fd);
}

static void a_proxy_that_names_nobody_is_the_peer(void **state)
{
	static const char unknown[] = "PROXY UNKNOWN\r\n" LAST("/peer");
	static const char local[] =
		"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0" LAST("/peer");

	expect_peer(*state, unknown, sizeof(unknown) - 1, 20, "127.0.0.1");
	expect_peer(*state, local, sizeof(local) - 1, 20, "127.0.0.1");
}

static void is_closed(struct proxied_world *w, const char *text, size_t len,
		      const char *why)
{
	int before = atomic_load(&w->told);
	uint64_t counted = read_refused_count(w, "proxy_header");
	int fd = client_connect(&w->base);
	char *answer;

	send_bytes(fd, text, len);
	shutdown(fd, SHUT_WR);
	answer = client_read_all(fd);
	assert_true(!answer || !*answer);
	assert_int_equal(atomic_load(&w->told), before + 1);
	assert_non_null(strstr(w->why, why));
	assert_int_equal(read_refused_count(w, "proxy_header"), counted + 1);
	free(answer);
	close(fd);
}

static void without_a_header_it_is_closed(void **state)
{
	static const char bad[] = "PROXY TCP4 192.0.2.7 1 2\r\n" LAST("/");
	static const char half[] = "PROXY TCP4 192.0.2.7";
	struct proxied_world *w = *state;

	is_closed(w, LAST("/"), sizeof(LAST("/")) - 1, "no PROXY header");
	is_closed(w, bad, sizeof(bad) - 1, "two addresses");
	is_closed(w, half, sizeof(half) - 1, "ended within");
	assert_int_equal(atomic_load(&w->base.handled), 0);
}

static void a_second_header_is_a_malformed_request(void **state)
{
	struct proxied_world *w = *state;
	char *answer = client_exchange(&w->base, V1 V1 LAST("/peer"));

	assert_int_equal(status_of(answer), 400);
	free(answer);
}

static void a_look_whether_somebody_is_there_is_no_fault(void **state)
{
	struct proxied_world *w = *state;
	int fd = client_connect(&w->base);
	char *answer;

	shutdown(fd, SHUT_WR);
	answer = client_read_all(fd);
	assert_true(!answer || !*answer);
	assert_int_equal(read_refused_count(w, "proxy_header"), 0);
	free(answer);
	close(fd);
}

static void the_header_has_its_time(void **state)
{
	struct proxied_world *w = *state;
	int silent = client_connect(&w->base), slow = client_connect(&w->base);
	char *answer;

	client_send(slow, "PROXY TCP4");
	answer = client_read_all(slow);
	assert_true(!answer || !*answer);
	free(answer);
	free(client_read_all(silent));
	assert_int_equal(read_refused_count(w, "too_slow"), 2);
	assert_int_equal(read_refused_count(w, "proxy_header"), 0);
	close(slow);
	close(silent);
}

static void wait_until_open(struct world *w, int64_t count)
{
	const struct metric *open =
		metrics_gauge(w->metrics, "shortloop_http_connections",
			      "listener=\"test\"", "");

	for (int i = 0; i < 20000 && metric_value(open) != (uint64_t)count; i++)
		usleep(1000);
	assert_int_equal(metric_value(open), count);
}

static void those_that_wait_are_connections(void **state)
{
	struct proxied_world *w = *state;
	int waiting[3];
	char *answer;

	for (int i = 0; i < 3; i++)
		waiting[i] = client_connect(&w->base);
	answer = client_exchange(&w->base, V1 LAST("/peer"));
	assert_int_equal(status_of(answer), 503);
	free(answer);
	for (int i = 0; i < 3; i++)
		close(waiting[i]);
	wait_until_open(&w->base, 0);
	for (int i = 0; i < 3; i++) {
		waiting[i] = client_connect(&w->base);
		client_send(waiting[i], V1 GET("/peer"));
	}
	for (int i = 0; i < 3; i++) {
		answer = client_read(waiting[i], "192.0.2.7", 1);
		assert_int_equal(status_of(answer), 200);
		free(answer);
		close(waiting[i]);
	}
}

static void a_request_of_others_has_no_header(void **state)
{
	static const char plain[] = LAST("/peer");
	char *answer = client_exchange(*state, V1 LAST("/peer"));

	assert_int_equal(status_of(answer), 400);
	free(answer);
	expect_peer(*state, plain, sizeof(plain) - 1, 5, "127.0.0.1");
}

static void drain_on_loop(void *arg)
{
	struct world *w = arg;

	http_listener_drain(w->listener, 60000, world_on_drained, w);
}

static void a_drain_does_not_wait_for_headers(void **state)
{
	struct proxied_world *w = *state;
	int waiting = client_connect(&w->base), busy = client_connect(&w->base);
	char *answer;

	client_send(busy, V1 GET("/hold"));
	world_wait_handled(&w->base, 1);
	client_send(waiting, "PROXY");
	world_post(&w->base, drain_on_loop);
	free(client_read_all(waiting));
	assert_false(atomic_load(&w->base.drained));
	world_let_go(&w->base);
	answer = client_read_all(busy);
	assert_int_equal(status_of(answer), 200);
	assert_true(world_is_drained(&w->base));
	free(answer);
	close(waiting);
	close(busy);
}

/* The caller that frees the listener no longer has a handler. */
static void freeing_answers_nobody(void **state)
{
	struct proxied_world *w = *state;
	int fd = client_connect(&w->base);

	client_send(fd, "PROXY");
	wait_until_open(&w->base, 1);
	loop_stop(w->base.loop);
	pthread_join(w->base.thread, NULL);
	client_send(fd, " UNKNOWN\r\n" GET("/peer"));
	http_listener_free(w->base.listener);
	assert_int_equal(atomic_load(&w->base.handled), 0);
	w->base.listener = NULL;
	world_run(&w->base);
	close(fd);
}

#define EXPECTED(name)                                                         \
	cmocka_unit_test_setup_teardown(name, set_up_expected, tear_down)
#define IMPATIENT(name)                                                        \
	cmocka_unit_test_setup_teardown(name, set_up_impatient, tear_down)
#define OTHERS(name)                                                           \
	cmocka_unit_test_setup_teardown(name, set_up_others, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EXPECTED(the_peer_is_whom_the_header_names),
		EXPECTED(it_stays_the_peer_of_all_requests),
		EXPECTED(a_proxy_that_names_nobody_is_the_peer),
		EXPECTED(without_a_header_it_is_closed),
		EXPECTED(a_second_header_is_a_malformed_request),
		EXPECTED(a_look_whether_somebody_is_there_is_no_fault),
		IMPATIENT(the_header_has_its_time),
		EXPECTED(those_that_wait_are_connections),
		OTHERS(a_request_of_others_has_no_header),
		EXPECTED(a_drain_does_not_wait_for_headers),
		EXPECTED(freeing_answers_nobody),
	};

	return cmocka_run_group_tests_name("proxied", tests, NULL, NULL);
}
