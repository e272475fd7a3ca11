/*
 * world.h - a listener in a thread of its own, and a client for it.
 *
 * The path selects what the handler does:
 *	/echo	answers method, path, query and body, one a line
 *	/later	does the same 30 ms later
 *	/hold	answers when the test calls world_let_go
 *	/watch	the same, and counts in `told_gone` when the client closes
 *	/big	answers BIG bytes
 *	/peer	answers the peer's address, as text
 *	/again	answers when another client has connected and sent the same
 *		request; this is repeated `again` times
 */
#ifndef TESTS_UNIT_HTTP_WORLD_H
#define TESTS_UNIT_HTTP_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/http/http_server.h"
#include "common/ip.h"

#define BIG (4 * 1024 * 1024)
/* Timeouts for events on a machine that is busy with other work. */
#define PATIENCE_MS	  60000
#define CLIENT_PATIENCE_S 5 /* some tests wait for it to expire */

struct world {
	struct loop *loop;
	struct http_listener *listener;
	struct metrics *metrics;
	struct http_config config;
	struct loop_timer *timer;
	pthread_t thread;
	uint16_t port;
	struct error err;
	char *big;
	struct http_request *later, *held;
	atomic_int handled;
	atomic_int told_gone;
	atomic_bool drained;
	int again; /* used by the loop's thread */
};

static inline void world_echo(struct http_request *req)
{
	struct http_slice parts[] = {http_method(req), http_path(req),
				     http_query(req), http_body(req)};
	struct buf out = {0};

	for (size_t i = 0; i < 4; i++) {
		buf_append(&out, parts[i].data, parts[i].len);
		buf_putc(&out, '\n');
	}
	http_reply(req, 200, NULL, out.data, out.len);
	buf_free(&out);
}

static inline void world_tell_peer(struct http_request *req)
{
	struct address peer = address_of_peer(http_peer(req));
	char text[INET6_ADDRSTRLEN] = "unknown";

	if (peer.len)
		inet_ntop(peer.len == 4 ? AF_INET : AF_INET6, peer.bytes, text,
			  sizeof(text));
	http_reply_text(req, 200, text);
}

static inline void world_ask_again(struct world *w)
{
	static const char text[] = "GET /again HTTP/1.1\r\nHost: a\r\n"
				   "Connection: close\r\n\r\n";
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(w->port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	w->again--;
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(send(fd, text, sizeof(text) - 1, 0), sizeof(text) - 1);
	close(fd);
}

static inline void world_on_timer(void *arg)
{
	struct world *w = arg;
	struct http_request *req = w->later;

	w->later = NULL;
	world_echo(req);
}

static inline void world_on_gone(void *arg)
{
	struct world *w = arg;

	atomic_fetch_add(&w->told_gone, 1);
}

static inline void world_handle(struct http_request *req, void *arg)
{
	struct world *w = arg;

	atomic_fetch_add(&w->handled, 1);
	if (http_slice_is(http_path(req), "/later")) {
		w->later = req;
		loop_timer_set(w->timer, 30);
	} else if (http_slice_is(http_path(req), "/hold")) {
		w->held = req;
	} else if (http_slice_is(http_path(req), "/watch")) {
		w->held = req;
		http_on_client_gone(req, world_on_gone, w);
	} else if (http_slice_is(http_path(req), "/big")) {
		http_reply(req, 200, NULL, w->big, BIG);
	} else if (http_slice_is(http_path(req), "/again")) {
		if (w->again > 0)
			world_ask_again(w);
		http_reply_text(req, 200, "again");
	} else if (http_slice_is(http_path(req), "/peer")) {
		world_tell_peer(req);
	} else {
		world_echo(req);
	}
}

static inline void *world_main(void *arg)
{
	struct world *w = arg;
	struct error err;

	loop_run(w->loop, &err);
	return NULL;
}

static inline void world_open_for(struct world *w, http_handler *handler,
				  void *arg)
{
	w->big = calloc(1, BIG);
	w->metrics = metrics_new();
	w->loop = loop_new(&w->err);
	w->timer = loop_timer_new(w->loop, world_on_timer, w, &w->err);
	w->listener =
		http_listener_new(w->loop, "127.0.0.1:0", &w->config, handler,
				  arg, w->metrics, "test", &w->err);
	assert_non_null(w->listener);
	w->port = http_listener_port(w->listener);
}

static inline void world_open(struct world *w)
{
	world_open_for(w, world_handle, w);
}

static inline void world_run(struct world *w)
{
	pthread_create(&w->thread, NULL, world_main, w);
}

static inline void world_start(struct world *w)
{
	world_open(w);
	world_run(w);
}

static inline void world_configure(struct world *w)
{
	w->config = http_config_default;
	w->config.max_header_bytes = 2048;
	w->config.max_headers = 20;
	w->config.max_body_bytes = 100000;
	w->config.max_buffer_bytes = 60000;
}

/* The same, with timeouts that a test can wait for, and few connections. */
static inline void world_configure_impatient(struct world *w)
{
	w->config = http_config_default;
	w->config.max_connections = 2;
	w->config.header_timeout = 250;
	w->config.body_timeout = 250;
	w->config.idle_timeout = 400;
	w->config.write_timeout = 200;
}

static inline int world_setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	world_configure(w);
	*state = w;
	world_start(w);
	return 0;
}

static inline int world_setup_impatient(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	world_configure_impatient(w);
	*state = w;
	world_start(w);
	return 0;
}

static inline void world_finish_held(struct world *w)
{
	struct http_request *req = w->held;

	w->held = NULL;
	if (!req)
		return;
	world_echo(req);
}

static inline void world_stop(struct world *w)
{
	loop_stop(w->loop);
	pthread_join(w->thread, NULL);
	http_listener_free(w->listener);
	world_finish_held(w);
}

static inline void world_free(struct world *w)
{
	loop_free(w->loop);
	metrics_free(w->metrics);
	free(w->big);
	free(w);
}

static inline int world_teardown(void **state)
{
	world_stop(*state);
	world_free(*state);
	return 0;
}

static inline void world_post(struct world *w, void (*fn)(void *arg))
{
	struct error err;

	assert_int_equal(loop_post(w->loop, fn, w, &err), 0);
}

static inline void world_let_go_on_loop(void *arg)
{
	world_finish_held(arg);
}

static inline void world_let_go(struct world *w)
{
	world_post(w, world_let_go_on_loop);
}

/* Waits until this many requests came to the handler. */
static inline void world_wait_handled(struct world *w, int count)
{
	for (int i = 0; i < PATIENCE_MS && atomic_load(&w->handled) < count;
	     i++)
		usleep(1000);
	assert_true(atomic_load(&w->handled) >= count);
}

/* A callback for http_listener_drain() and similar; the argument is the world.
 */
static inline void world_on_drained(void *arg)
{
	struct world *w = arg;

	atomic_store(&w->drained, true);
}

/* Waits until the listener is drained. */
static inline bool world_is_drained(const struct world *w)
{
	for (int i = 0; i < PATIENCE_MS && !atomic_load(&w->drained); i++)
		usleep(1000);
	return atomic_load(&w->drained);
}

/* --- the client ----------------------------------------------------------- */

static inline void client_connect_by(const struct world *w, int fd)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(w->port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval patience = {.tv_sec = CLIENT_PATIENCE_S};

	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
}

static inline int client_connect(const struct world *w)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	client_connect_by(w, fd);
	return fd;
}

static inline void client_send(int fd, const char *text)
{
	size_t len = strlen(text);

	assert_int_equal(send(fd, text, len, MSG_NOSIGNAL), len);
}

/* Reads until the text has come `times` times, or the end.  Returns what was
 * read, NUL-terminated; the caller frees it. */
static inline char *client_read(int fd, const char *text, int times)
{
	struct buf in = {0};
	char chunk[4096];
	const char *at;
	ssize_t n;
	int found;

	for (;;) {
		found = 0;
		at = buf_cstr(&in);
		while (times && (at = strstr(at, text)) && ++found < times)
			at += strlen(text);
		if (times && found == times)
			break;
		n = recv(fd, chunk, sizeof(chunk), 0);
		if (n <= 0)
			break;
		buf_append(&in, chunk, (size_t)n);
	}
	return in.data;
}

static inline char *client_read_all(int fd)
{
	return client_read(fd, "", 0);
}

/* Sends on a new connection and reads until the server closes. */
static inline char *client_exchange(const struct world *w, const char *text)
{
	int fd = client_connect(w);
	char *answer;

	client_send(fd, text);
	answer = client_read_all(fd);
	close(fd);
	return answer;
}

static inline int status_of(const char *answer)
{
	return strncmp(answer, "HTTP/1.1 ", 9) == 0 ? atoi(answer + 9) : 0;
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"

static inline int count_occurrences(const char *text, const char *what)
{
	int n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static inline void expect_body(const char *answer, const char *body)
{
	const char *at = strstr(answer, "\r\n\r\n");

	assert_non_null(at);
	assert_string_equal(at + 4, body);
}

static inline char *get_then_close(const struct world *w, const char *request)
{
	char text[4096];

	snprintf(text, sizeof(text), "%s%s", request,
		 "GET /end HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
	return client_exchange(w, text);
}

#define CASE(name)                                                             \
	cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

#endif
