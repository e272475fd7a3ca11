#include "common/http/stream.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/hex.h"
#include "common/http/http_metrics.h"
#include "common/http/io.h"
#include "common/http/parse.h"
#include "common/http/reply.h"
#include "common/http/types.h"

/*
 * A streamed body lies after the headers of its request, at the front of `in`,
 * which neither moves nor grows: bytes that the handler has taken make room for
 * the next read.
 */

/* The room after the headers for a body, and for a request without one. */
#define STREAM_BUFFER  32768
#define NO_BODY_BUFFER 512
/* "0000c0de\r\n": the size is filled in when the chunk is complete. */
#define CHUNK_DIGITS 8

void http_listener_stream(struct http_listener *l, http_stream_choose *choose,
			  http_handler *handler)
{
	l->choose = choose;
	l->stream_handler = handler;
}

/* --- life ----------------------------------------------------------------- */

static void on_kick(void *arg)
{
	struct connection *conn = arg;

	conn->req->stream->kicked = false;
	conn->calls->proceed(conn);
}

static void schedule_continuation(struct http_request *req)
{
	struct http_stream *s = req->stream;

	if (s->kicked || !s->kick)
		return;
	s->kicked = true;
	loop_timer_set(s->kick, 0);
}

void stream_stop(struct http_request *req)
{
	loop_timer_free(req->stream->kick);
	req->stream->kick = NULL;
}

void stream_free(struct http_request *req)
{
	stream_stop(req);
	free(req->stream);
	req->stream = NULL;
}

static size_t room_for_body(const struct http_request *req)
{
	return req->parser.flags & F_CHUNKED || req->parser.content_length
		       ? STREAM_BUFFER
		       : NO_BODY_BUFFER;
}

int stream_open(struct connection *conn)
{
	struct http_request *req = conn->req;
	struct http_stream *s = calloc(1, sizeof(*s));
	struct error err;

	if (!s)
		return -1;
	req->stream = s;
	s->kick = loop_timer_new(conn->listener->loop, on_kick, conn, &err);
	if (!s->kick || request_make_room(req, room_for_body(req)) < 0 ||
	    parse_target(req) < 0) {
		stream_free(req);
		return -1;
	}
	llhttp_resume(&req->parser);
	return 0;
}

/* --- the body ------------------------------------------------------------- */

static bool has_untaken(const struct http_request *req)
{
	return req->stream->taken < req->body_len;
}

bool stream_wants_input(const struct connection *conn)
{
	const struct http_stream *s = conn->req->stream;

	return s->handler && !s->paused && !s->body_done && !s->lost &&
	       conn->req->in.len == conn->req->parsed &&
	       !has_untaken(conn->req);
}

bool stream_can_step(const struct connection *conn)
{
	const struct http_request *req = conn->req;
	const struct http_stream *s = req->stream;

	if (conn->fd < 0 || s->lost || !s->handler || s->paused)
		return false;
	if (has_untaken(req))
		return true;
	return s->body_done ? !s->end_told
			    : !s->fed || req->in.len > req->parsed;
}

/* The handler may end the request in this call. */
static void pass_data_to_handler(struct http_request *req)
{
	struct connection *conn = req->conn;
	struct http_stream *s = req->stream;
	const struct http_slice data = {request_base(req) + req->body +
						s->taken,
					req->body_len - s->taken};
	size_t taken = s->handler->on_data
			       ? s->handler->on_data(req, data, s->arg)
			       : data.len;

	if (conn->phase != STREAMING)
		return;
	s->paused = taken < data.len;
	s->taken += s->paused ? taken : data.len;
	if (has_untaken(req))
		return;
	s->taken = req->body_len = 0;
	if (!s->body_done)
		req->in.len = req->parsed = req->start + req->body;
}

void stream_refuse(struct connection *conn, int status, const char *detail)
{
	struct http_stream *s = conn->req->stream;

	http_metrics_refused(&conn->listener->metrics, status);
	/* An answer that has begun is just cut off. */
	if (!s->answering)
		reply_refusal(conn->req, status, detail);
	conn->closing = conn->linger = true;
	s->lost = true;
}

void stream_step(struct connection *conn)
{
	struct http_request *req = conn->req;
	struct http_stream *s = req->stream;

	if (has_untaken(req)) {
		pass_data_to_handler(req);
		return;
	}
	if (s->body_done) {
		s->end_told = true;
		if (s->handler->on_end)
			s->handler->on_end(req, s->arg);
		return;
	}
	s->fed = true;
	switch (parse_body(req)) {
	case PARSE_COMPLETE:
		s->body_done = true;
		break;
	case PARSE_REFUSED:
		stream_refuse(conn, req->refusal, req->refusal_detail);
		break;
	case PARSE_MORE:
	case PARSE_HEADERS:
		break;
	}
}

static bool wants_to_be_stopped(const struct connection *conn)
{
	const struct http_stream *s = conn->req->stream;

	return s->handler->on_stop && !s->stop_told && conn->listener->draining;
}

void stream_tell(struct connection *conn)
{
	struct http_request *req = conn->req;
	struct http_stream *s = req->stream;

	if (!s->handler)
		return;
	if (stream_is_lost(req)) {
		if (!s->loss_told) {
			s->loss_told = true;
			s->handler->on_abort(req, s->arg);
		}
		return;
	}
	if (wants_to_be_stopped(conn)) {
		s->stop_told = true;
		s->handler->on_stop(req, s->arg);
		if (conn->phase != STREAMING)
			return;
	}
	if (s->above && http_stream_pending(req) <= s->handler->drain_mark) {
		s->above = false;
		if (s->handler->on_drained)
			s->handler->on_drained(req, s->arg);
	}
}

void stream_hung_up(struct connection *conn)
{
	if (conn->req->stream->handler && !conn->req->stream->loss_told)
		schedule_continuation(conn->req);
}

void stream_drain(struct connection *conn)
{
	if (conn->req->stream->handler)
		schedule_continuation(conn->req);
}

bool stream_stops_at_half_close(const struct connection *conn)
{
	const struct http_stream *s = conn->req->stream;

	return s->handler && s->handler->stop_at_half_close && !s->lost;
}

void http_stream_accept(struct http_request *req,
			const struct http_stream_handler *handler, void *arg)
{
	struct http_stream *s = req->stream;

	s->handler = handler;
	s->arg = arg;
	schedule_continuation(req);
	if (req->expects && req->in.len == req->parsed && !stream_is_lost(req))
		buf_puts(&req->out, "HTTP/1.1 100 Continue\r\n\r\n");
	req->expects = false;
}

void http_stream_resume(struct http_request *req)
{
	req->stream->paused = false;
	schedule_continuation(req);
}

bool http_stream_client_left(const struct http_request *req)
{
	struct pollfd fd = {.fd = req->conn->fd, .events = POLLRDHUP};

	return stream_is_lost(req) || poll(&fd, 1, 0) > 0;
}

/* --- the answer ----------------------------------------------------------- */

/* TCP_USER_TIMEOUT limits the time without acknowledgement of sent bytes:
 * nothing else reveals a client that has vanished. */
static void bound_silence(const struct connection *conn)
{
	unsigned timeout = (unsigned)conn->listener->config->write_timeout;

	(void)setsockopt(conn->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout,
			 sizeof(timeout));
}

void http_stream_begin(struct http_request *req, int status,
		       const struct http_field *fields)
{
	struct http_stream *s = req->stream;

	s->answering = true;
	if (stream_is_lost(req))
		return;
	s->chunked = req->parser.http_minor > 0;
	s->silent = req->parser.method == HTTP_HEAD;
	bound_silence(req->conn);
	reply_stream_head(req, status, fields, s->chunked);
	schedule_continuation(req);
}

static void open_chunk(struct http_request *req)
{
	static const char blank[CHUNK_DIGITS + 2] = "00000000\r\n";
	struct http_stream *s = req->stream;

	s->chunk = req->out.len;
	s->chunk_open = true;
	buf_append(&req->out, blank, sizeof(blank));
}

void stream_seal(struct http_request *req)
{
	struct http_stream *s = req->stream;
	size_t len, i;

	if (!s->chunk_open || req->out.failed)
		return;
	len = req->out.len - s->chunk - CHUNK_DIGITS - 2;
	for (i = CHUNK_DIGITS; i-- > 0; len /= 16)
		req->out.data[s->chunk + i] = hex_lower(len % 16);
	buf_puts(&req->out, "\r\n");
	s->chunk_open = false;
}

/* Removes sent bytes when they are half of the buffer, so that each byte is
 * moved once at most. */
static void drop_sent(struct http_request *req)
{
	if (req->sent < 4096 || req->sent < req->out.len / 2)
		return;
	buf_consume(&req->out, req->sent);
	req->stream->chunk -= req->sent;
	req->sent = 0;
}

void http_stream_write(struct http_request *req, const void *data, size_t len)
{
	struct http_stream *s = req->stream;

	if (len == 0 || s->silent || stream_is_lost(req))
		return;
	drop_sent(req);
	if (s->chunked && !s->chunk_open)
		open_chunk(req);
	buf_append(&req->out, data, len);
	if (http_stream_pending(req) > s->handler->drain_mark)
		s->above = true;
	schedule_continuation(req);
}

size_t http_stream_pending(const struct http_request *req)
{
	return req->out.len - req->sent;
}

/* Resets the connection: an orderly close would look like the end of the
 * answer. */
static void reset_connection(struct connection *conn)
{
	const struct linger at_once = {.l_onoff = 1};

	setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	connection_hang_up(conn);
}

void http_stream_break(struct http_request *req)
{
	struct http_stream *s = req->stream;

	s->loss_told = true;
	if (stream_is_lost(req))
		return;
	s->lost = true;
	req->conn->closing = req->conn->linger = true;
	if (s->answering && !s->chunked)
		reset_connection(req->conn);
	schedule_continuation(req);
}

void http_stream_end(struct http_request *req)
{
	struct http_stream *s = req->stream;
	struct connection *conn = req->conn;

	if (!s->answering && !stream_is_lost(req)) {
		http_reply_problem(req, 500, NULL, "there is no answer");
		return;
	}
	/* An open chunk would look like the last one. */
	stream_seal(req);
	if (!stream_is_lost(req)) {
		if (s->chunked && !s->silent)
			buf_puts(&req->out, "0\r\n\r\n");
		if (!s->body_done)
			conn->closing = conn->linger = true;
		if (conn->listener->draining)
			conn->closing = true;
	}
	conn->calls->answered(conn);
}
