#include "common/http/connection.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/http/http_metrics.h"
#include "common/http/idle.h"
#include "common/http/io.h"
#include "common/http/parse.h"
#include "common/http/reply.h"
#include "common/http/request_pool.h"
#include "common/http/stream.h"

/*
 * The phases of a connection (types.h), each until an event of the loop:
 *
 *	connection_new --> READING <----------------------+
 *	                    |   |                         |
 *	  a whole request   |   |  headers of a request   |
 *	                    |   |  that is streamed       |
 *	                    v   v                         |
 *	             HANDLING   STREAMING                 |
 *	                    |   |                         |
 *	                    v   v  the handler answers    |
 *	                 on_handler_answer ---------------+
 *
 *	READING --> `closing` is set and all is sent --> LINGERING, or the end
 *	LINGERING --> the client has closed, or LINGER_MS are over: the end
 *
 * A client that goes ends the connection in READING and LINGERING.  In HANDLING
 * and STREAMING the connection stays without its socket, and its end is the
 * answer of the handler.
 *
 * The path of each event through this file:
 *
 *	on_event
 *	    |
 *	    v
 *	process_requests: advance_request and flush_output, while there is
 *	    |             input and the client takes output; a handler that
 *	    |             answers here sets READING, and the loop goes on
 *	    v
 *	restore_invariants --> close_or_linger, destroy_connection
 *	    |
 *	    v
 *	set_events, set_timeout: the loop waits
 *
 *	on_timeout --> a 408, or the client is hung up --> restore_invariants
 *	on_handler_answer, later than its call --> continue_connection, which is
 *	    process_requests and restore_invariants
 */

/* --- timeouts --------------------------------------------------------------
 */

/* The time a refused client gets to read the reason. */
#define LINGER_MS 2000

/* Line ends that precede a request do not begin it: a client that sends one and
 * then nothing is idle. */
static bool is_between_requests(const struct connection *conn)
{
	return !conn->req || !conn->req->begun;
}

static enum connection_wait what_it_waits_for(const struct connection *conn)
{
	if (conn->phase == LINGERING)
		return WAIT_LINGER;
	if (connection_is_sending(conn))
		return WAIT_WRITE;
	if (conn->phase == HANDLING)
		return WAIT_HANDLER;
	if (conn->phase == STREAMING)
		return stream_is_lost(conn->req)  ? WAIT_LINGER
		       : stream_wants_input(conn) ? WAIT_BODY
						  : WAIT_HANDLER;
	if (is_between_requests(conn))
		return conn->spoken ? WAIT_IDLE : WAIT_FIRST;
	return conn->req->headers_done ? WAIT_BODY : WAIT_HEADER;
}

static int64_t timeout_of(const struct http_config *config,
			  enum connection_wait wait)
{
	switch (wait) {
	case WAIT_FIRST:
		return config->header_timeout < config->idle_timeout
			       ? config->header_timeout
			       : config->idle_timeout;
	case WAIT_IDLE:
		return config->idle_timeout;
	case WAIT_HEADER:
		return config->header_timeout;
	case WAIT_BODY:
		return config->body_timeout;
	case WAIT_WRITE:
		return config->write_timeout;
	case WAIT_LINGER:
		return LINGER_MS;
	case WAIT_HANDLER:
		break;
	}
	return INT64_MAX;
}

/* Sets the timer for what the connection waits for.  The time counts from the
 * start of that wait, so that a byte now and then does not extend it. */
static void set_timeout(struct connection *conn)
{
	enum connection_wait wait = what_it_waits_for(conn);
	int64_t now = loop_now_ms(conn->listener->loop);
	int64_t timeout = timeout_of(conn->listener->config, wait);

	if (wait == WAIT_WRITE)
		conn->unread = connection_unread(conn);
	if (wait != conn->wait || conn->progress) {
		conn->wait = wait;
		conn->progress = false;
		conn->since = now;
	}
	if (wait == WAIT_FIRST || wait == WAIT_IDLE)
		idle_enter(conn, now);
	else
		idle_leave(conn);
	if (timeout == INT64_MAX)
		loop_timer_stop(conn->timer);
	else
		loop_timer_set(conn->timer, conn->since + timeout - now);
}

/* The size of unsent answers above which no further request is parsed. */
#define WRITE_HIGH_WATER 65536

/* Returns false if not all of it is sent yet, or the client has gone. */
static bool flush_output(struct connection *conn)
{
	if (conn->req->stream)
		stream_seal(conn->req);
	return connection_flush(conn);
}

/* --- ends ----------------------------------------------------------------- */

size_t connection_awaited(const struct http_listener *l)
{
	return l->winding_down ? l->early_count : l->connection_count;
}

void connection_check_drain(struct http_listener *l)
{
	if (l->drained && connection_awaited(l) == 0)
		loop_timer_set(l->drain_timer, 0);
}

static void decrease_connection_counts(struct connection *conn)
{
	struct http_listener *l = conn->listener;

	l->connection_count--;
	if (conn->early)
		l->early_count--;
	metric_add(l->metrics.open, UINT64_MAX);
	connection_check_drain(l);
}

static void leave_listener(struct connection *conn)
{
	struct http_listener *l = conn->listener;

	if (!l)
		return;
	loop_timer_free(conn->timer);
	conn->timer = NULL;
	if (conn->phase == STREAMING)
		stream_stop(conn->req);
	idle_leave(conn);
	if (conn->prev)
		conn->prev->next = conn->next;
	else
		l->connections = conn->next;
	if (conn->next)
		conn->next->prev = conn->prev;
	decrease_connection_counts(conn);
	conn->listener = NULL;
}

static void release_request(struct connection *conn)
{
	if (!conn->req)
		return;
	if (conn->listener)
		request_pool_give_back(conn->listener, conn->req);
	else
		request_pool_free(conn->req);
	conn->req = NULL;
}

static void destroy_connection(struct connection *conn)
{
	connection_hang_up(conn);
	release_request(conn);
	leave_listener(conn);
	free(conn);
}

/* The handler may end the request in this call. */
static void notify_stream_handler(struct connection *conn)
{
	conn->processing = true;
	stream_tell(conn);
	conn->processing = false;
}

/* Notifies the handler that the client no longer waits for its answer. */
static void tell_gone(struct connection *conn)
{
	void (*fn)(void *arg) = conn->req->on_gone;

	conn->req->on_gone = NULL;
	if (fn)
		fn(conn->req->gone_arg);
}

void connection_close(struct connection *conn)
{
	if (conn->phase != HANDLING && conn->phase != STREAMING) {
		destroy_connection(conn);
		return;
	}
	connection_hang_up(conn);
	leave_listener(conn);
	if (conn->phase == STREAMING)
		notify_stream_handler(conn);
	else
		tell_gone(conn);
	if (conn->phase == READING)
		destroy_connection(conn);
}

/* The number of idle connections to skip because a request has arrived and was
 * not read yet: they are about to be answered. */
#define PASSED_OVER_MAX 16

bool connection_make_room(struct http_listener *l)
{
	struct connection *conn = l->idle.first, *next;

	for (int i = 0; conn && i < PASSED_OVER_MAX; i++, conn = next) {
		next = conn->idle_next;
		if (connection_has_input(conn))
			continue;
		metric_add(l->metrics.made_room, 1);
		destroy_connection(conn);
		return true;
	}
	return false;
}

void connection_retire(struct connection *conn)
{
	/* A connection whose request has arrived but was not read yet is not
	 * idle. */
	if (conn->phase == READING && is_between_requests(conn) &&
	    !connection_is_sending(conn) && !connection_has_input(conn))
		destroy_connection(conn);
	else if (conn->phase == STREAMING)
		stream_drain(conn);
}

/* --- requests ------------------------------------------------------------- */

static void write_refusal(struct connection *conn, int status,
			  const char *detail)
{
	http_metrics_refused(&conn->listener->metrics, status);
	reply_refusal(conn->req, status, detail);
}

/* Sends 100 Continue, for which the client waits before it sends its body. */
static void tell_to_continue(struct http_request *req)
{
	if (req->expects && req->body_len == 0 && req->in.len == req->parsed)
		buf_puts(&req->out, "HTTP/1.1 100 Continue\r\n\r\n");
	req->expects = false;
}

/* Calls `admit`, which decides whether the body may be read. */
static void check_admission(struct connection *conn)
{
	struct http_listener *l = conn->listener;
	struct http_request *req = conn->req;

	conn->phase = HANDLING;
	if (!l->admit(req, &req->body_max, l->arg))
		return;
	conn->phase = READING;
	parse_admitted(req);
	if (parse_is_too_long(req))
		write_refusal(conn, 413, "the body is too long");
	else
		tell_to_continue(req);
}

/* Returns false if the rest of the request has not arrived yet. */
static bool advance_request(struct connection *conn)
{
	struct http_listener *l = conn->listener;
	struct http_request *req = conn->req;

	if (conn->phase == STREAMING) {
		stream_step(conn);
		return true;
	}
	switch (parse_request(req)) {
	case PARSE_MORE:
		if (req->headers_done)
			tell_to_continue(req);
		return false;
	case PARSE_COMPLETE:
		conn->phase = HANDLING;
		conn->handled++;
		l->handler(req, l->arg);
		return true;
	case PARSE_HEADERS:
		if (req->unadmitted) {
			check_admission(conn);
			return true;
		}
		if (stream_open(conn) < 0) {
			connection_hang_up(conn);
			return true;
		}
		conn->phase = STREAMING;
		conn->handled++;
		l->stream_handler(req, l->arg);
		return true;
	case PARSE_REFUSED:
		write_refusal(conn, req->refusal, req->refusal_detail);
		return true;
	}
	return false;
}

static bool can_parse(const struct connection *conn)
{
	const struct http_request *req = conn->req;

	if (conn->phase == STREAMING)
		return stream_can_step(conn);
	return conn->fd >= 0 && conn->phase == READING && !conn->closing &&
	       req->out.len - req->sent < WRITE_HIGH_WATER &&
	       req->in.len > (req->begun ? req->parsed : req->start);
}

/* Answers all requests that have arrived, as far as handlers answer at once. */
static void process_requests(struct connection *conn)
{
	bool hungry = false;

	conn->processing = true;
	do {
		while (!hungry && can_parse(conn))
			hungry = !advance_request(conn);
	} while (flush_output(conn) && !hungry && can_parse(conn));
	conn->processing = false;
}

/* All is sent: closes, or waits until the client has read it. */
static void close_or_linger(struct connection *conn)
{
	bool unread = conn->req->in.len > conn->req->start ||
		      (!conn->drained && connection_has_input(conn));

	if (!conn->linger && !unread) {
		connection_hang_up(conn);
		return;
	}
	shutdown(conn->fd, SHUT_WR);
	release_request(conn);
	conn->phase = LINGERING;
	conn->progress = true;
}

/* A stream reads and writes at once. */
static uint32_t stream_events(const struct connection *conn)
{
	uint32_t events = connection_is_sending(conn) ? EPOLLOUT : 0;

	if (stream_wants_input(conn) || stream_is_lost(conn->req))
		events |= EPOLLIN;
	else if (stream_stops_at_half_close(conn))
		events |= EPOLLRDHUP;
	return events;
}

static void on_event(void *arg, uint32_t events);

/* Watches the socket from the first wait on: a connection that is answered in
 * its first turn is never watched. */
static void watch_socket(struct connection *conn, uint32_t events)
{
	struct error err;

	conn->watch = loop_watch_fd(conn->listener->loop, conn->fd, events,
				    on_event, conn, &err);
	if (!conn->watch)
		connection_hang_up(conn);
}

static void set_events(struct connection *conn)
{
	uint32_t events = EPOLLIN;
	struct error err;

	if (conn->phase == STREAMING)
		events = stream_events(conn);
	else if (connection_is_sending(conn))
		events = EPOLLOUT;
	else if (conn->paused)
		events = 0;
	if (conn->phase == HANDLING && conn->req->on_gone)
		events |= EPOLLRDHUP;
	if (!conn->watch)
		watch_socket(conn, events);
	else if (loop_watch_set(conn->watch, events, &err) < 0)
		connection_hang_up(conn);
}

/* Waits for the handler's answer after the client has gone. */
static void wait_for_handler(struct connection *conn)
{
	loop_timer_stop(conn->timer);
	idle_leave(conn);
	if (conn->phase == STREAMING)
		stream_hung_up(conn);
	else
		tell_gone(conn);
}

/* Restores what must hold for a connection between two calls from the loop. */
static void restore_invariants(struct connection *conn)
{
	struct http_request *req = conn->req;

	metric_add(conn->listener->metrics.requests, conn->handled);
	conn->handled = 0;
	if (conn->phase == STREAMING)
		notify_stream_handler(conn);
	if (conn->fd >= 0 && conn->closing && conn->phase == READING &&
	    !connection_is_sending(conn))
		close_or_linger(conn);
	else if (conn->phase == READING && req && req->in.len == req->start &&
		 !connection_is_sending(conn))
		release_request(conn);
	conn->drained = false;
	if (conn->fd >= 0)
		set_events(conn);
	if (conn->fd >= 0)
		set_timeout(conn);
	else if (conn->phase == READING || conn->phase == LINGERING)
		destroy_connection(conn);
	else
		wait_for_handler(conn);
}

static void continue_connection(struct connection *conn)
{
	process_requests(conn);
	restore_invariants(conn);
}

static void on_handler_answer(struct connection *conn)
{
	conn->phase = READING;
	if (conn->req->stream)
		stream_free(conn->req);
	conn->paused = false;
	conn->progress = true;
	if (conn->fd >= 0)
		parse_next(conn->req);
	if (conn->processing)
		return;
	if (conn->fd < 0) {
		destroy_connection(conn);
		return;
	}
	continue_connection(conn);
}

static const struct connection_calls calls = {
	.answered = on_handler_answer,
	.proceed = continue_connection,
};

static void read_and_process(struct connection *conn)
{
	connection_read(conn);
	if (conn->fd >= 0)
		process_requests(conn);
}

/* --- calls from the loop -------------------------------------------------- */

static void on_stream_event(struct connection *conn, uint32_t events)
{
	if (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP))
		connection_hang_up(conn);
	else if (stream_is_lost(conn->req))
		connection_discard(conn);
	else if ((events & EPOLLIN) && stream_wants_input(conn))
		connection_read(conn);
	if (conn->fd >= 0)
		process_requests(conn);
}

static void on_event(void *arg, uint32_t events)
{
	struct connection *conn = arg;

	if (conn->phase == HANDLING && (events & EPOLLRDHUP))
		tell_gone(conn);
	if (conn->phase == LINGERING) {
		connection_discard(conn);
	} else if (conn->phase == STREAMING) {
		on_stream_event(conn, events);
	} else if (conn->phase == HANDLING &&
		   (events & (EPOLLERR | EPOLLHUP))) {
		connection_hang_up(conn);
	} else if (connection_is_sending(conn)) {
		if (flush_output(conn))
			process_requests(conn);
	} else if (conn->phase == HANDLING) {
		conn->paused = true;
	} else {
		read_and_process(conn);
	}
	restore_invariants(conn);
}

static void on_timeout(void *arg)
{
	struct connection *conn = arg;

	if (conn->wait == WAIT_WRITE &&
	    connection_unread(conn) < conn->unread) {
		conn->progress = true;
	} else if (conn->wait == WAIT_BODY && conn->phase == STREAMING) {
		stream_refuse(conn, 408, "the body came too slowly");
		flush_output(conn);
	} else if (conn->wait == WAIT_HEADER || conn->wait == WAIT_BODY) {
		http_metrics_refused(&conn->listener->metrics, 408);
		reply_refusal(conn->req, 408,
			      conn->wait == WAIT_HEADER
				      ? "the headers came too slowly"
				      : "the body came too slowly");
		flush_output(conn);
	} else {
		connection_hang_up(conn);
	}
	restore_invariants(conn);
}

static void turn_away(struct connection *conn)
{
	http_metrics_refused(&conn->listener->metrics, 503);
	if (connection_take_request(conn)) {
		reply_refusal(conn->req, 503, "too many connections");
		flush_output(conn);
	} else {
		connection_hang_up(conn);
	}
}

int connection_new(struct http_listener *l, int fd,
		   const struct sockaddr_storage *peer, bool surplus,
		   struct error *err)
{
	struct connection *conn = calloc(1, sizeof(*conn));

	if (!conn) {
		close(fd);
		return error_set_nomem(err);
	}
	conn->calls = &calls;
	conn->fd = fd;
	conn->peer = *peer;
	conn->timer = loop_timer_new(l->loop, on_timeout, conn, err);
	if (!conn->timer) {
		close(fd);
		free(conn);
		return -1;
	}
	conn->listener = l;
	l->connection_count++;
	metric_add(l->metrics.open, 1);
	conn->next = l->connections;
	if (conn->next)
		conn->next->prev = conn;
	l->connections = conn;
	conn->progress = true;
	if (surplus)
		turn_away(conn);
	else
		read_and_process(conn);
	restore_invariants(conn);
	return 0;
}
