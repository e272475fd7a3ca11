/* listener.h - accepts connections on an address, and drains. */
#ifndef COMMON_HTTP_LISTENER_H
#define COMMON_HTTP_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/http/http_config.h"
#include "common/http/request.h"
#include "common/loop/loop.h"
#include "common/metrics/metrics.h"
#include "common/network_list.h"

typedef void http_handler(struct http_request *req, void *arg);

struct http_listener;

/*
 * Binds "host:port" ("[::1]:8080", ":8080" for every address; port 0: any free
 * one) with SO_REUSEPORT and serves it on `loop`.  `config` must outlive the
 * listener.  `metrics` may be NULL; `name` labels them, and listeners of one
 * name share them.  A port in use is one clear ERROR_SYSTEM line.
 */
struct http_listener *http_listener_new(struct loop *loop, const char *address,
					const struct http_config *config,
					http_handler *handler, void *arg,
					struct metrics *metrics,
					const char *name, struct error *err);

/*
 * The same with a socket that listens and does not block, which it takes over,
 * also on failure; -1: it has no socket of its own.  Nothing is accepted before
 * http_listener_open.
 */
struct http_listener *http_listener_new_at(struct loop *loop, int fd,
					   const struct http_config *config,
					   http_handler *handler, void *arg,
					   struct metrics *metrics,
					   const char *name, struct error *err);

/* Starts accepting.  Call it on the loop's thread, or before the loop runs. */
void http_listener_open(struct http_listener *l);

/*
 * Decides about a request that has a body, once its headers are complete:
 * before the body is awaited, or 100 Continue sent.  True: the body is read, up
 * to *body_max bytes (max_body_bytes, which may be lowered; 413 beyond), and
 * the handler is called.  False: the request has been answered, within the
 * call, by one of the http_reply functions; the connection is then closed,
 * since the body would have to be read for nothing.  Not called for a body that
 * came with its headers, as most short ones do: it is already there.
 */
typedef bool http_admit(struct http_request *req, size_t *body_max, void *arg);

/* Called with the listener's `arg`.  Set it before the loop runs. */
void http_listener_admit(struct http_listener *l, http_admit *admit);

/*
 * Adds header lines to every answer: of the handler, its problems and the
 * server's refusals, except those of requests whose headers were not read to
 * the end.  Appends header lines as they are sent, each ended by CRLF; they
 * must contain no CR or LF from outside.
 */
typedef void http_fields(const struct http_request *req, struct buf *lines,
			 void *arg);

/* Called with the listener's `arg`.  Set it before the loop runs. */
void http_listener_fields(struct http_listener *l, http_fields *fields);

/* Called when a connection from `peer` was closed because its PROXY header was
 * missing or malformed. */
typedef void http_proxy_refused(const struct sockaddr_storage *peer,
				const char *why, void *arg);

/*
 * Each connection from these networks has to begin with a PROXY header
 * (proxy_protocol.h), within header_timeout; http_peer then returns the source
 * that it names.  From any other address such a header is read as a request,
 * and refused.  Call it before the loop runs; `from` must outlive the listener.
 * `refused` may be NULL.
 */
void http_listener_expect_proxy(struct http_listener *l,
				const struct network_list *from,
				http_proxy_refused *refused, void *arg);

/*
 * Accepts connections on `fd` as well, a socket that is non-blocking and
 * listens.  Several listeners may share it: the one that has waited longest for
 * a connection gets the next.  `fd` stays the caller's, which closes it after
 * the listener was freed.  May be called several times, before the loop runs.
 */
int http_listener_share(struct http_listener *l, int fd, struct error *err);

/* Accepts the connections that wait at `fd`, such a socket, now, and no later
 * ones.  Call it on the loop's thread. */
void http_listener_accept_waiting(struct http_listener *l, int fd);

/* Returns the port that the listener is bound to. */
uint16_t http_listener_port(const struct http_listener *l);

/*
 * Stops accepting, closes idle connections, answers the rest with Connection:
 * close, and calls done(arg) on the loop when the last one is gone or after
 * timeout_ms.  The listener may be freed in `done`.
 */
void http_listener_drain(struct http_listener *l, int64_t timeout_ms,
			 void (*done)(void *arg), void *arg);

/* Stops accepting, and leaves the sockets to others that have them as well: the
 * owner of shared ones may close them then.  http_listener_leave follows. */
void http_listener_stop_accepting(struct http_listener *l);

/*
 * Continues to accept, and answers every request with Connection: close.  Calls
 * done(arg) when all connections that existed at the time of the call are gone,
 * or after timeout_ms.  http_listener_leave follows.
 */
void http_listener_wind_down(struct http_listener *l, int64_t timeout_ms,
			     void (*done)(void *arg), void *arg);

/*
 * Leaves the sockets, with the clients that wait there, to others that have
 * them as well.  A connection may send one more request and gets Connection:
 * close, since closing an idle one could drop a request that is on its way;
 * connections that send none are closed after timeout_ms.  Calls done(arg) on
 * the loop when the last one is gone, or half a second after that time.  The
 * listener may be freed in `done`.
 */
void http_listener_leave(struct http_listener *l, int64_t timeout_ms,
			 void (*done)(void *arg), void *arg);

/* Closes everything.  Call it on the loop's thread, or after that has ended;
 * before the loop is freed.  NULL accepted. */
void http_listener_free(struct http_listener *l);

#endif
