/*
 * stream.h - requests that are handled while they arrive, and answers that
 * are sent while they are made.
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
 * http_stream_end.  It may answer while the body still arrives; a request that
 * has its whole answer before the end of its body costs the connection, since
 * the rest of the body would have to be read for nothing.
 *
 * The request and all its strings stay valid until http_reply or
 * http_stream_end, also when the client has gone or the listener was freed.
 *
 * An answer may take any time and have any length.  Its memory is bounded by
 * who writes it: he stops while http_stream_pending is above his mark, and goes
 * on at on_drained.  What bounds the client: write_timeout, in which it has to
 * take some byte while any wait for it.  A client that is asked for nothing may
 * be quiet for ever; it is found to be gone within write_timeout of the next
 * byte that is written.
 */
#ifndef COMMON_HTTP_STREAM_H
#define COMMON_HTTP_STREAM_H

#include "common/http/http_server.h"

/* --- choosing ------------------------------------------------------------- */

/* Is the body of this request to be streamed, or its answer?  Looks at its
 * headers only. */
typedef bool http_stream_choose(const struct http_request *req, void *arg);

/* Requests that are chosen go to `handler`, with the listener's `arg`.  To be
 * called before the loop runs. */
void http_listener_stream(struct http_listener *l, http_stream_choose *choose,
			  http_handler *handler);

/* --- the body ------------------------------------------------------------- */

struct http_stream_handler {
	/*
	 * More of the body.  Returns how many bytes of it were taken.  If those
	 * are not all, nothing more is read from the client, who feels it
	 * through TCP, until http_stream_resume shows the rest again.  NULL:
	 * all is taken and dropped.
	 */
	size_t (*on_data)(struct http_request *req, struct http_slice data,
			  void *arg);
	/* All of the body has been taken.  May be NULL. */
	void (*on_end)(struct http_request *req, void *arg);
	/*
	 * The client has gone, its body was malformed or too slow, or the
	 * listener was freed: what is written from here on goes nowhere.  The
	 * last call of all, and made once at most; the request still has to be
	 * ended.  Not called when the loss comes after the end.
	 */
	void (*on_abort)(struct http_request *req, void *arg);
	/* http_stream_pending has fallen to drain_mark or below, after it was
	 * above.  May be NULL. */
	void (*on_drained)(struct http_request *req, void *arg);
	size_t drain_mark;
	/* The listener drains (http_listener_drain), or did so before the
	 * request was accepted: an answer that has no end of its own is to be
	 * ended now.  Called once at most.  May be NULL. */
	void (*on_stop)(struct http_request *req, void *arg);
	/* A client that closes its side has gone: on_abort is called at once
	 * rather than when the answer cannot be sent.  Such as close only their
	 * side and wait for the answer get none then. */
	bool stop_at_half_close;
};

/* Takes the body.  Nothing of it is read before, nor 100 Continue sent.
 * `handler` must outlive the request. */
void http_stream_accept(struct http_request *req,
			const struct http_stream_handler *handler, void *arg);

/* Goes on after on_data has not taken all.  on_data is called later, not
 * within this. */
void http_stream_resume(struct http_request *req);

/* Has the client closed its side of the connection, or all of it?  While its
 * body is not taken nothing is read that would tell.  A client may close only
 * its side and wait for the answer; few do. */
bool http_stream_client_left(const struct http_request *req);

/* --- the answer ----------------------------------------------------------- */

/* Status and headers, copied.  Transfer-Encoding, Date and Connection are
 * added. To HTTP/1.0 the answer ends with the connection.  After
 * http_stream_accept. */
void http_stream_begin(struct http_request *req, int status,
		       const struct http_field *fields);

/* More of the answer's body, copied.  What is written in one turn of the loop
 * leaves in one write at its end, however little it is. */
void http_stream_write(struct http_request *req, const void *data, size_t len);

/* Bytes that wait for the client to take them; they are held in memory. */
size_t http_stream_pending(const struct http_request *req);

/* Breaks the answer off, so that the client will not take what it got for all
 * of it: the last chunk is missing, and the connection of an HTTP/1.0 client,
 * whose answer ends with the connection, is reset.  Nothing is read any more
 * either.  on_abort is not called for it, and the request still has to be
 * ended.
 */
void http_stream_break(struct http_request *req);

/* The answer is complete, or, after on_abort, given up.  The request is invalid
 * from here on. */
void http_stream_end(struct http_request *req);

/* --- for connection.c ------------------------------------------------------
 */

struct connection;

/* The headers of a request to be streamed are complete. */
int stream_open(struct connection *conn);
/* The loop's part of it, before the listener goes. */
void stream_stop(struct http_request *req);
void stream_free(struct http_request *req);
bool stream_wants_input(const struct connection *conn);
bool stream_can_step(const struct connection *conn);
/* Parses some of the body, or shows it to the handler, who may end the request
 * by that. */
void stream_step(struct connection *conn);
/* Tells the client why, unless its answer has begun. */
void stream_refuse(struct connection *conn, int status, const char *detail);
/* Tells the handler what has become of the client, who may end the request by
 * that. */
void stream_tell(struct connection *conn);
/* Will tell it, if it has not been told. */
void stream_hung_up(struct connection *conn);
/* Will tell it that the listener drains. */
void stream_drain(struct connection *conn);
/* Is the client's end of sending to be looked for? */
bool stream_stops_at_half_close(const struct connection *conn);
/* Completes the open chunk of the answer. */
void stream_seal(struct http_request *req);

#endif
