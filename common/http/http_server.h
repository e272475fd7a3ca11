/*
 * http_server.h - the HTTP/1.1 server of every program that listens.
 *
 * One listener per loop; several threads share a port through SO_REUSEPORT.
 * Parsing is llhttp's, strict: a request with both Content-Length and
 * Transfer-Encoding, a bare CR or LF, a doubled Content-Length or a space
 * before the colon is a 400 and the connection is closed.  Requests of one
 * connection are answered in order; the next is parsed once the present one
 * has been answered.
 *
 * A handler is called once the request is complete, body included, and calls
 * http_reply exactly once: at once, or later on the same loop's thread.  Until
 * then the request and all its strings stay valid, also when the client has
 * gone (the reply is then dropped).  After http_reply they are invalid.
 *
 * With `Expect: 100-continue` the server answers 100 itself.  HEAD is passed to
 * the handler as HEAD; a body given to http_reply is then counted in
 * Content-Length but not sent.
 */
#ifndef COMMON_HTTP_HTTP_SERVER_H
#define COMMON_HTTP_HTTP_SERVER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/config/setting.h"
#include "common/error.h"
#include "common/loop/loop.h"
#include "common/metrics/metrics.h"

/* Bounds and timeouts; `http` section of the configuration. */
struct http_config {
	int64_t max_header_bytes; /* request line and headers: 431 beyond */
	int64_t max_body_bytes;	  /* 413 beyond */
	int64_t max_connections;  /* per listener; beyond: 503 and close */
	int64_t header_timeout;	  /* ms to the end of the headers: 408 */
	int64_t body_timeout;	  /* ms to the end of the body: 408 */
	int64_t idle_timeout;	  /* ms between requests: closed */
	int64_t write_timeout;	  /* ms without progress while sending */
};
extern const struct setting_section http_section;

struct http_slice {
	const char *data; /* not NUL-terminated */
	size_t len;
};

struct http_header {
	struct http_slice name; /* as sent; compare without case */
	struct http_slice value;
};

struct http_request;

struct http_slice http_method(const struct http_request *req); /* "GET" */
bool http_method_is(const struct http_request *req, const char *method);
/* As sent, undecoded: path without the query; query without the '?'. */
struct http_slice http_path(const struct http_request *req);
struct http_slice http_query(const struct http_request *req);
struct http_slice http_body(const struct http_request *req);
/* The first header of that name, or {NULL, 0}. */
struct http_slice http_header_get(const struct http_request *req,
				  const char *name);
size_t http_header_count(const struct http_request *req);
struct http_header http_header_at(const struct http_request *req, size_t i);
/* The address of the TCP peer (not of X-Forwarded-For); IPv4 as AF_INET. */
const struct sockaddr_storage *http_peer(const struct http_request *req);

/* One header of an answer; names and values are copied by http_reply. */
struct http_field {
	const char *name; /* NULL ends a list */
	const char *value;
};

/*
 * Answers.  Content-Length, Date and Connection are added; everything else is
 * the caller's.  `fields` may be NULL.  The body is copied.  A value with CR or
 * LF in it is refused: the answer is then a 500.
 */
void http_reply(struct http_request *req, int status,
		const struct http_field *fields, const void *body, size_t len);

/* The same with text/plain. */
void http_reply_text(struct http_request *req, int status, const char *text);

/*
 * problem+json (RFC 9457): {"title","status","detail"}.  `detail` says what to
 * do about it.  `fields` may add headers (Retry-After, Allow), or be NULL.
 */
void http_reply_problem(struct http_request *req, int status,
			const struct http_field *fields, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

typedef void http_handler(struct http_request *req, void *arg);

struct http_listener;

/*
 * Binds "host:port" ("[::1]:8080"; port 0: any free one) with SO_REUSEPORT and
 * serves it on `loop`.  `config` must outlive the listener.  `metrics` may be
 * NULL; `name` labels them.  A port in use is one clear ERROR_SYSTEM line.
 */
struct http_listener *http_listener_new(struct loop *loop, const char *address,
					const struct http_config *config,
					http_handler *handler, void *arg,
					struct metrics *metrics,
					const char *name, struct error *err);

/* The port it is bound to. */
uint16_t http_listener_port(const struct http_listener *l);

/*
 * Stops accepting, closes idle connections, answers the rest with Connection:
 * close, and calls done(arg) on the loop when the last one is gone or after
 * timeout_ms.
 */
void http_listener_drain(struct http_listener *l, int64_t timeout_ms,
			 void (*done)(void *arg), void *arg);

/* Closes everything.  On the loop's thread, or when it no longer runs. */
void http_listener_free(struct http_listener *l);

#endif
