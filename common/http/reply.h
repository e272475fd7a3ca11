/* reply.h - answers. */
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

/* --- for the server itself --- */

/* A refusal by the server; closes. */
void reply_refusal(struct http_request *req, int status, const char *detail);
/* The head of an answer of unknown length. */
void reply_stream_head(struct http_request *req, int status,
		       const struct http_field *fields, bool chunked);

#endif
