/* reply.h - answers to requests. */
#ifndef COMMON_HTTP_REPLY_H
#define COMMON_HTTP_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/http/request.h"

/* One header of an answer; names and values are copied by http_reply. */
struct http_field {
	const char *name; /* NULL ends a list */
	const char *value;
};

/*
 * Answers the request.  Content-Length, Date and Connection are added; all
 * other fields are the caller's.  `fields` may be NULL.  The body is copied.  A
 * value that contains CR or LF is refused: the answer is then a 500.
 */
void http_reply(struct http_request *req, int status,
		const struct http_field *fields, const void *body, size_t len);

/*
 * The same for hot paths: `lines` are header lines as they are sent, each ended
 * by CRLF ("Location: https://a/\r\n"), copied and not checked.  The caller
 * guarantees that they contain no CR or LF from outside.
 */
void http_reply_lines(struct http_request *req, int status,
		      struct http_slice lines, const void *body, size_t len);

/* The same with text/plain. */
void http_reply_text(struct http_request *req, int status, const char *text);

/*
 * Answers with problem+json (RFC 9457): {"type","title","status","detail"}.
 * `detail` says what to do about it; the type is that of the status.  `fields`
 * may add headers (Retry-After, Allow), or be NULL: a 503 without any has
 * Retry-After: 1.
 */
void http_reply_problem(struct http_request *req, int status,
			const struct http_field *fields, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The same with another type (common/http/problem_type.h); NULL: the status's.
 */
void http_reply_typed_problem(struct http_request *req, int status,
			      const char *type, const struct http_field *fields,
			      const char *detail);

/* The same with members of its own after the usual ones: JSON text that begins
 * with a comma, or "". */
void http_reply_problem_members(struct http_request *req, int status,
				const char *detail, const char *members);

/* Appends the members of such an object, without its braces.  Bytes of `detail`
 * that are not UTF-8 become question marks. */
void http_problem_put(struct buf *out, int status, const char *type,
		      const char *detail);

/* Returns "Not Found" for 404. */
const char *http_reason(int status);

/* --- for the server itself --- */

/* Sends a refusal by the server, and closes. */
void reply_refusal(struct http_request *req, int status, const char *detail);
/* Writes the head of an answer of unknown length. */
void reply_stream_head(struct http_request *req, int status,
		       const struct http_field *fields, bool chunked);

#endif
