/*
 * Any bytes on a connection: no crash, no hang, every request that reaches the
 * handler keeps the guarantees of http_server.h, and every answer is valid.
 * The first byte is the size of the pieces in which the rest arrives.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/http/connection.h"
#include "common/http/types.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct http_config config;

struct stage {
	struct loop *loop;
	struct http_listener *listener;
	struct loop_timer *later, *tick;
	struct http_request *waiting;
	const uint8_t *data;
	size_t size, piece;
	int fd; /* the client's end */
	bool answered;
};

static void check_slice(struct http_slice slice)
{
	assert(slice.len == 0 || slice.data);
	assert(slice.len == 0 || !memchr(slice.data, '\n', slice.len));
	assert(slice.len == 0 || !memchr(slice.data, '\r', slice.len));
}

static void check_request(const struct http_request *req)
{
	struct http_slice path = http_path(req);
	struct http_header h;
	size_t i;

	assert(http_method(req).len > 0);
	assert(path.len > 0 && (path.data[0] == '/' || path.data[0] == '*'));
	assert(!memchr(path.data, '?', path.len));
	assert(http_body(req).len <= (size_t)config.max_body_bytes);
	assert(http_header_count(req) <= (size_t)config.max_headers);
	check_slice(http_query(req));
	for (i = 0; i < http_header_count(req); i++) {
		h = http_header_at(req, i);
		assert(h.name.len > 0 && !memchr(h.name.data, ' ', h.name.len));
		check_slice(h.value);
	}
	check_slice(http_cookie_get(req, "a"));
}

static void echo_body(struct http_request *req)
{
	struct http_slice body = http_body(req);

	http_reply(req, 200, NULL, body.data, body.len);
}

static void answer_later(void *arg)
{
	struct stage *s = arg;
	struct http_request *req = s->waiting;

	s->waiting = NULL;
	echo_body(req);
}

static void handle_request(struct http_request *req, void *arg)
{
	struct stage *s = arg;

	check_request(req);
	if (!http_slice_is(http_query(req), "later")) {
		echo_body(req);
		return;
	}
	s->waiting = req;
	loop_timer_set(s->later, 0);
}

static void read_answers(struct stage *s)
{
	char chunk[65536];
	ssize_t n;

	while ((n = recv(s->fd, chunk, sizeof(chunk), MSG_DONTWAIT)) > 0) {
		if (!s->answered && n >= 9)
			assert(memcmp(chunk, "HTTP/1.1 ", 9) == 0);
		s->answered = true;
	}
}

static void on_turn_end(void *arg)
{
	struct stage *s = arg;
	size_t n = s->size < s->piece ? s->size : s->piece;
	ssize_t sent = 0;

	if (n > 0)
		sent = send(s->fd, s->data, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent < 0)
		s->size = 0; /* refused */
	if (sent > 0) {
		s->data += sent;
		s->size -= (size_t)sent;
	}
	if (s->size == 0)
		shutdown(s->fd, SHUT_WR);
	read_answers(s);
	if (s->listener->connection_count == 0)
		loop_stop(s->loop);
	loop_timer_set(s->tick, 0);
}

static void do_nothing(void *arg)
{
	(void)arg;
}

static struct stage *the_stage(void)
{
	static struct stage s;
	struct error err;

	if (s.loop)
		return &s;
	config = http_config_default;
	config.max_header_bytes = 512;
	config.max_headers = 8;
	config.max_body_bytes = 1024;
	s.loop = loop_new(&err);
	if (!s.loop)
		abort();
	s.later = loop_timer_new(s.loop, answer_later, &s, &err);
	s.tick = loop_timer_new(s.loop, do_nothing, &s, &err);
	s.listener = http_listener_new(s.loop, "127.0.0.1:0", &config,
				       handle_request, &s, NULL, "fuzz", &err);
	if (!s.later || !s.tick || !s.listener ||
	    loop_on_turn_end(s.loop, on_turn_end, &s, &err) < 0)
		abort();
	return &s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct sockaddr_storage nobody = {.ss_family = AF_UNIX};
	struct stage *s = the_stage();
	struct error err;
	int pair[2];

	if (size == 0)
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) < 0)
		abort();
	s->piece = data[0] ? data[0] : size;
	s->data = data + 1;
	s->size = size - 1;
	s->fd = pair[0];
	s->answered = false;
	if (connection_new(s->listener, pair[1], &nobody, false, &err) < 0)
		abort();
	loop_timer_set(s->tick, 0);
	if (loop_run(s->loop, &err) < 0)
		abort();
	close(pair[0]);
	return 0;
}
