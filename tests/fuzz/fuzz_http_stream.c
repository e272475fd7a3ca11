/*
 * Any bytes on a connection whose requests are streamed: the handler gets a
 * body once and in order, gets its end or its failure once, finds the headers
 * unchanged, and every answer is valid.  The first byte is the size of the
 * pieces in which the rest arrives; a request's query selects what its handler
 * does.
 */
#include <assert.h>
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
	struct http_request *present; /* one at a time on a connection */
	struct buf head;	      /* the head at the first call */
	bool ended, lost;
	const uint8_t *data;
	size_t size, piece;
	int fd; /* the client's end */
	bool answered;
};

static bool query_is(const struct http_request *req, const char *what)
{
	return http_slice_is(http_query(req), what);
}

static void put_head(const struct http_request *req, struct buf *out)
{
	struct http_slice method = http_method(req), path = http_path(req);
	struct http_header h;
	size_t i;

	buf_append(out, method.data, method.len);
	buf_append(out, path.data, path.len);
	for (i = 0; i < http_header_count(req); i++) {
		h = http_header_at(req, i);
		buf_append(out, h.name.data, h.name.len);
		buf_append(out, h.value.data, h.value.len);
	}
}

static void check_head(const struct stage *s, const struct http_request *req)
{
	struct buf now = {0};

	put_head(req, &now);
	assert(req == s->present);
	assert(now.len == s->head.len);
	assert(memcmp(now.data, s->head.data, now.len) == 0);
	buf_free(&now);
}

static void finish_request(struct stage *s, struct http_request *req)
{
	check_head(s, req);
	s->present = NULL;
	loop_timer_stop(s->later);
	if (query_is(req, "reply"))
		http_reply_text(req, 200, "all of it");
	else
		http_stream_end(req);
}

static size_t on_data(struct http_request *req, struct http_slice data,
		      void *arg)
{
	struct stage *s = arg;
	size_t taken = data.len;

	check_head(s, req);
	assert(!s->ended && !s->lost && data.len > 0);
	if (query_is(req, "early")) {
		finish_request(s, req);
		return taken;
	}
	if (query_is(req, "sip") && data.len > 1) {
		taken = data.len / 2;
		loop_timer_set(s->later, 0);
	}
	if (!query_is(req, "reply"))
		http_stream_write(req, data.data, taken);
	return taken;
}

static void on_end(struct http_request *req, void *arg)
{
	struct stage *s = arg;

	assert(!s->ended && !s->lost);
	s->ended = true;
	if (query_is(req, "late"))
		loop_timer_set(s->later, 0);
	else
		finish_request(s, req);
}

static void on_abort(struct http_request *req, void *arg)
{
	struct stage *s = arg;

	assert(!s->lost);
	s->lost = true;
	if (query_is(req, "late"))
		loop_timer_set(s->later, 0);
	else
		finish_request(s, req);
}

static void on_later(void *arg)
{
	struct stage *s = arg;

	if (s->ended || s->lost)
		finish_request(s, s->present);
	else
		http_stream_resume(s->present);
}

static const struct http_stream_handler handler = {
	.on_data = on_data,
	.on_end = on_end,
	.on_abort = on_abort,
};

static const struct http_stream_handler leaving = {
	.on_data = on_data,
	.on_end = on_end,
	.on_abort = on_abort,
	.stop_at_half_close = true,
};

static bool is_streamed(const struct http_request *req, void *arg)
{
	(void)arg;
	return http_path(req).len > 1;
}

static void handle_whole_request(struct http_request *req, void *arg)
{
	(void)arg;
	http_reply_text(req, 200, "whole");
}

static void handle_stream(struct http_request *req, void *arg)
{
	struct stage *s = arg;

	assert(!s->present);
	if (query_is(req, "refuse")) {
		http_reply_problem(req, 401, NULL, "no");
		return;
	}
	s->present = req;
	s->ended = s->lost = false;
	buf_reset(&s->head);
	put_head(req, &s->head);
	http_stream_accept(req, query_is(req, "leave") ? &leaving : &handler,
			   s);
	if (!query_is(req, "reply"))
		http_stream_begin(req, 200, NULL);
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
	if (s->listener->connection_count == 0 && !s->present)
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
	s.later = loop_timer_new(s.loop, on_later, &s, &err);
	s.tick = loop_timer_new(s.loop, do_nothing, &s, &err);
	s.listener =
		http_listener_new(s.loop, "127.0.0.1:0", &config,
				  handle_whole_request, &s, NULL, "fuzz", &err);
	if (!s.later || !s.tick || !s.listener ||
	    loop_on_turn_end(s.loop, on_turn_end, &s, &err) < 0)
		abort();
	http_listener_stream(s.listener, is_streamed, handle_stream);
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
