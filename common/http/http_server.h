/*
 * http_server.h - the HTTP/1.1 server of every program that listens.
 *
 * One listener per loop; several threads share a port through SO_REUSEPORT.
 * Parsing is llhttp's, strict, with what it lets pass checked again: a request
 * with both Content-Length and Transfer-Encoding, a transfer coding other than
 * chunked, a bare CR or LF, a folded header, a doubled Content-Length or Host,
 * a missing Host (1.1), a space before the colon, a bad chunk or trailer, or a
 * target of "*" for anything but OPTIONS is a 400 and the connection is closed.
 * A trailer is read, within the bounds of a header block, and dropped.  Other
 * refusals, closing too: 408 (slow), 413, 417 (unknown expectation), 431, 501
 * (CONNECT), 503 (too many connections or too much memory in bodies), 505 (not
 * HTTP/1).  Their bodies are problem+json.
 *
 * Requests of one connection are answered in order; the next is parsed once the
 * present one has been answered.  Answers to pipelined requests that arrive in
 * one read leave in one write.
 *
 * A handler is called once the request is complete, body included, and calls
 * one of the http_reply functions exactly once: at once, or later on the same
 * loop's thread.  Until then the request and all its strings stay valid, also
 * when the client has gone (the reply is then dropped) or the listener was
 * freed.  After the reply they are invalid.
 *
 * http_stream.h is for bodies and answers that are too long to be held whole.
 *
 * With `Expect: 100-continue` the server answers 100 itself.  HEAD is passed to
 * the handler as HEAD; a body given to a reply is then counted in
 * Content-Length but not sent.
 */
#ifndef COMMON_HTTP_HTTP_SERVER_H
#define COMMON_HTTP_HTTP_SERVER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/config/setting.h"
#include "common/error.h"
#include "common/loop/loop.h"
#include "common/metrics/metrics.h"

/* Bounds and timeouts; `http` section of the configuration. */
struct http_config {
	int64_t max_header_bytes; /* request line and headers: 431 beyond */
	int64_t max_headers;	  /* header lines of a request: 431 beyond */
	int64_t max_body_bytes;	  /* 413 beyond */
	int64_t max_connections;  /* per listener; beyond: 503 and close */
	int64_t max_buffer_bytes; /* per listener, of all requests that outgrew
				   * their first buffer: 503 beyond; one alone
				   * may always have max_body_bytes */
	int64_t header_timeout;	  /* ms to the end of the headers: 408 */
	int64_t body_timeout;  /* ms to the end of the body, or to the next byte
				* of a streamed one: 408 */
	int64_t idle_timeout;  /* ms between requests: closed */
	int64_t write_timeout; /* ms without progress while sending */
};
extern const struct setting_section http_section;

/* The defaults of that section, for listeners made without a file. */
extern const struct http_config http_config_default;

/* --- the request ---------------------------------------------------------- */

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
/* As sent, undecoded: path without the query; query without the '?'.  The path
 * starts with '/', or is "*" (OPTIONS). */
struct http_slice http_path(const struct http_request *req);
struct http_slice http_query(const struct http_request *req);
struct http_slice http_body(const struct http_request *req);
/* The first header of that name, or {NULL, 0}. */
struct http_slice http_header_get(const struct http_request *req,
				  const char *name);
size_t http_header_count(const struct http_request *req);
struct http_header http_header_at(const struct http_request *req, size_t i);
/* Is that the request's Content-Type, whatever its case and parameters? */
bool http_type_is(const struct http_request *req, const char *type);
/* The value of a cookie (names have case), without quotes, or {NULL, 0}. */
struct http_slice http_cookie_get(const struct http_request *req,
				  const char *name);
/* The address of the TCP peer (not of X-Forwarded-For); IPv4 as AF_INET. */
const struct sockaddr_storage *http_peer(const struct http_request *req);

/* True when nobody waits for the answer any more: dear work can be skipped.
 * The reply must still be given. */
bool http_client_gone(const struct http_request *req);

/* Comparisons with a C string; the second ignores ASCII case. */
bool http_slice_is(struct http_slice slice, const char *text);
bool http_slice_is_nocase(struct http_slice slice, const char *text);

/* --- the answer ----------------------------------------------------------- */

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

/*
 * The same for hot paths: `lines` are header lines as they go out, each ended
 * by CRLF ("Location: https://a/\r\n"), copied and not looked at.  The caller
 * vouches that no CR or LF came into them from outside.
 */
void http_reply_lines(struct http_request *req, int status,
		      struct http_slice lines, const void *body, size_t len);

/* The same with text/plain. */
void http_reply_text(struct http_request *req, int status, const char *text);

/*
 * problem+json (RFC 9457): {"title","status","detail"}.  `detail` says what to
 * do about it.  `fields` may add headers (Retry-After, Allow), or be NULL.
 */
void http_reply_problem(struct http_request *req, int status,
			const struct http_field *fields, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The members of such an object, without its braces.  What of `detail` is not
 * UTF-8 becomes question marks. */
void http_problem_put(struct buf *out, int status, const char *detail);

/* "Not Found" for 404. */
const char *http_reason(int status);

/* --- the listener --------------------------------------------------------- */

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
 * Sharing a port also works between processes, so two programs started with one
 * address would take each other's requests.  A program calls this once, before
 * the first listener on an address: ERROR_SYSTEM when somebody listens there.
 */
int http_address_check(const char *address, struct error *err);

/*
 * Looks at a request that has a body, once its headers are complete: before any
 * of the body is waited for, or 100 Continue sent.  True: the body is read, up
 * to *body_max bytes (max_body_bytes, which may be lowered; 413 beyond), and
 * the handler called.  False: it has been answered, within the call, by one of
 * the http_reply functions; that costs the connection, since the body would
 * have to be read for nothing.  Not called for a body that came with its
 * headers, as most short ones do: there is nothing to be spared any more.
 */
typedef bool http_admit(struct http_request *req, size_t *body_max, void *arg);

/* With the listener's `arg`.  To be called before the loop runs. */
void http_listener_admit(struct http_listener *l, http_admit *admit);

/* The port it is bound to. */
uint16_t http_listener_port(const struct http_listener *l);

/*
 * Stops accepting, closes idle connections, answers the rest with Connection:
 * close, and calls done(arg) on the loop when the last one is gone or after
 * timeout_ms.  The listener may be freed in `done`.
 */
void http_listener_drain(struct http_listener *l, int64_t timeout_ms,
			 void (*done)(void *arg), void *arg);

/* Closes everything.  On the loop's thread, or when it no longer runs; before
 * the loop is freed.  Accepts NULL. */
void http_listener_free(struct http_listener *l);

#endif
