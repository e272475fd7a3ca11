/*
 * stream.h - requests that are handled while they arrive, and answers that are
 * sent while they are made.
 *
 * A listener's owner chooses, by their headers, requests whose body or answer
 * is to be streamed.  Such a body may have any length, since it is never held
 * whole: max_body_bytes does not bound it, and body_timeout counts from the
 * last byte that came.  Everything else that http_server.h says of requests
 * holds.
 *
 * The handler of such a request is called once its headers are complete, and
 * answers at once or later on the same loop's thread: with one of the
 * http_reply functions, as always, or with http_stream_begin and
 * http_stream_end.  It may answer while the body still arrives; if the whole
 * answer is given before the end of the body, the connection is closed, since
 * the rest of the body would have to be read for nothing.
 *
 * The request and all its strings stay valid until http_reply or
 * http_stream_end, also when the client has gone or the listener was freed.
 *
 * An answer may take any time and have any length.  The writer bounds its
 * memory: it stops while http_stream_pending is above its mark, and continues
 * at on_drained.  The client is bounded by write_timeout, in which it has to
 * take some byte while any wait for it.  While no byte waits, a client may be
 * quiet for ever; if it is gone, that is found within write_timeout of the next
 * byte that is written.
 */
#ifndef COMMON_HTTP_STREAM_H
#define COMMON_HTTP_STREAM_H

#include "common/http/http_server.h"

/* --- choosing ------------------------------------------------------------- */

/* Returns true if the body of this request, or its answer, is to be streamed.
 * Only the headers may be read. */
typedef bool http_stream_choose(const struct http_request *req, void *arg);

/* Chosen requests go to `handler`, with the listener's `arg`.  Call it before
 * the loop runs. */
void http_listener_stream(struct http_listener *l, http_stream_choose *choose,
			  http_handler *handler);

/* --- the body ------------------------------------------------------------- */

struct http_stream_handler {
	/*
	 * Receives more of the body, and returns how many bytes of it were
	 * taken.  If those are not all, nothing more is read from the client,
	 * which TCP slows down, until http_stream_resume presents the rest
	 * again.  NULL: the body is taken and dropped.
	 */
	size_t (*on_data)(struct http_request *req, struct http_slice data,
			  void *arg);
	/* All of the body has been taken.  May be NULL. */
	void (*on_end)(struct http_request *req, void *arg);
	/*
	 * The client has gone, its body was malformed or too slow, or the
	 * listener was freed: what is written from here on is dropped.  This is
	 * the last call, made once at most; the request still has to be ended.
	 * Not called if the client goes after the end.
	 */
	void (*on_abort)(struct http_request *req, void *arg);
	/* http_stream_pending has fallen to drain_mark or below, after it was
	 * above.  May be NULL. */
	void (*on_drained)(struct http_request *req, void *arg);
	size_t drain_mark;
	/* The listener drains (http_listener_drain), or did so before the
	 * request was accepted: an answer that has no end of its own has to be
	 * ended now.  Called once at most.  May be NULL. */
	void (*on_stop)(struct http_request *req, void *arg);
	/* A client that closes its side counts as gone: on_abort is called at
	 * once rather than when the answer cannot be sent.  Clients that close
	 * only their side and wait for the answer then get none. */
	bool stop_at_half_close;
};

/* Accepts the body.  Before this call none of it is read, nor 100 Continue
 * sent.  `handler` must outlive the request. */
void http_stream_accept(struct http_request *req,
			const struct http_stream_handler *handler, void *arg);

/* Continues after on_data has not taken all.  on_data is called later, not
 * within this call. */
void http_stream_resume(struct http_request *req);

/* Returns true if the client has closed its side of the connection, or all of
 * it.  While its body is not taken nothing is read, so a close is not noticed.
 * A client may close only its side and wait for the answer; few do. */
bool http_stream_client_left(const struct http_request *req);

/* --- the answer ----------------------------------------------------------- */

/* Sends status and headers, which are copied.  Transfer-Encoding, Date and
 * Connection are added.  An answer to HTTP/1.0 ends with the connection.  Call
 * it after http_stream_accept. */
void http_stream_begin(struct http_request *req, int status,
		       const struct http_field *fields);

/* Appends to the answer's body; the data is copied.  Everything written in one
 * turn of the loop is sent in one write at its end, however little it is. */
void http_stream_write(struct http_request *req, const void *data, size_t len);

/* Returns the number of bytes that the client has not taken yet; they are held
 * in memory. */
size_t http_stream_pending(const struct http_request *req);

/* Cuts the answer off so that the client does not take it for complete: the
 * last chunk is missing, and the connection of an HTTP/1.0 client, whose answer
 * ends with the connection, is reset.  Nothing is read any more either.
 * on_abort is not called for it, and the request still has to be ended. */
void http_stream_break(struct http_request *req);

/* Ends the answer as complete or, after on_abort, gives it up.  The request is
 * invalid from here on. */
void http_stream_end(struct http_request *req);

/* --- for connection.c ------------------------------------------------------
 */

struct connection;

/* Called when the headers of a request to be streamed are complete. */
int stream_open(struct connection *conn);
/* Releases what belongs to the loop, before the listener is freed. */
void stream_stop(struct http_request *req);
void stream_free(struct http_request *req);
bool stream_wants_input(const struct connection *conn);
bool stream_can_step(const struct connection *conn);
/* Parses some of the body, or passes it to the handler, which may end the
 * request. */
void stream_step(struct connection *conn);
/* Sends the client the reason, unless the answer has begun. */
void stream_refuse(struct connection *conn, int status, const char *detail);
/* Notifies the handler of the client's state; the handler may end the
 * request. */
void stream_tell(struct connection *conn);
/* Schedules that the handler is notified that the client has gone, if it was
 * not yet. */
void stream_hung_up(struct connection *conn);
/* Schedules that the handler is notified of the drain. */
void stream_drain(struct connection *conn);
/* Returns true if a half-close by the client has to be detected. */
bool stream_stops_at_half_close(const struct connection *conn);
/* Completes the open chunk of the answer. */
void stream_seal(struct http_request *req);

#endif
