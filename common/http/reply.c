#include "common/http/reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/http/problem_type.h"
#include "common/http/types.h"
#include "common/json_text.h"

#define PROBLEM_DETAIL_MAX 1024

#define LINE(status, reason)                                                   \
	{                                                                      \
		status, sizeof("HTTP/1.1 200 " reason) - 1,                    \
			"HTTP/1.1 " #status " " reason                         \
	}

struct status_line {
	int status;
	size_t len;
	const char *text;
};

/* Frequent ones come first. */
static const struct status_line status_lines[] = {
	LINE(302, "Found"),
	LINE(200, "OK"),
	LINE(404, "Not Found"),
	LINE(100, "Continue"),
	LINE(201, "Created"),
	LINE(202, "Accepted"),
	LINE(204, "No Content"),
	LINE(301, "Moved Permanently"),
	LINE(303, "See Other"),
	LINE(304, "Not Modified"),
	LINE(307, "Temporary Redirect"),
	LINE(308, "Permanent Redirect"),
	LINE(400, "Bad Request"),
	LINE(401, "Unauthorized"),
	LINE(403, "Forbidden"),
	LINE(405, "Method Not Allowed"),
	LINE(406, "Not Acceptable"),
	LINE(408, "Request Timeout"),
	LINE(409, "Conflict"),
	LINE(410, "Gone"),
	LINE(411, "Length Required"),
	LINE(412, "Precondition Failed"),
	LINE(413, "Content Too Large"),
	LINE(414, "URI Too Long"),
	LINE(415, "Unsupported Media Type"),
	LINE(417, "Expectation Failed"),
	LINE(422, "Unprocessable Content"),
	LINE(428, "Precondition Required"),
	LINE(429, "Too Many Requests"),
	LINE(431, "Request Header Fields Too Large"),
	LINE(451, "Unavailable For Legal Reasons"),
	LINE(500, "Internal Server Error"),
	LINE(501, "Not Implemented"),
	LINE(502, "Bad Gateway"),
	LINE(503, "Service Unavailable"),
	LINE(504, "Gateway Timeout"),
	LINE(505, "HTTP Version Not Supported"),
	LINE(507, "Insufficient Storage"),
};

static const struct status_line *status_line(int status)
{
	size_t i;

	for (i = 0; i < sizeof(status_lines) / sizeof(status_lines[0]); i++) {
		if (status_lines[i].status == status)
			return &status_lines[i];
	}
	return NULL;
}

const char *http_reason(int status)
{
	const struct status_line *line = status_line(status);

	return line ? line->text + strlen("HTTP/1.1 200 ") : "Unknown";
}

/* --- parts of an answer --------------------------------------------------- */

/* The line is rebuilt once a second. */
static const char *date_line(struct http_listener *l)
{
	int64_t now = loop_now_ms(l->loop);
	int64_t real;
	struct tm tm;
	time_t seconds;

	if (now < l->date_until)
		return l->date;
	real = clock_real_ms();
	seconds = (time_t)(real / 1000);
	gmtime_r(&seconds, &tm);
	strftime(l->date, sizeof(l->date),
		 "\r\nDate: %a, %d %b %Y %H:%M:%S GMT\r\n", &tm);
	l->date_until = now + 1000 - real % 1000;
	return l->date;
}

static void put_start(struct http_request *req, int status)
{
	const struct status_line *line = status_line(status);
	struct http_listener *l = req->conn->listener;

	/* At most one allocation for everything but the body. */
	buf_reserve(&req->out, 512);
	if (line)
		buf_append(&req->out, line->text, line->len);
	else
		buf_printf(&req->out, "HTTP/1.1 %03d Unknown", status);
	buf_append(&req->out, date_line(l), HTTP_DATE_LEN);
	if (l->fields && req->headers_done)
		l->fields(req, &req->out, l->arg);
}

static bool has_no_body(int status)
{
	return status < 200 || status == 204 || status == 304;
}

static void put_length(struct buf *out, size_t len)
{
	buf_puts(out, "Content-Length: ");
	buf_put_uint(out, len);
	buf_puts(out, "\r\n");
}

/* Also ends the head. */
static void put_connection(struct http_request *req)
{
	struct buf *out = &req->out;

	if (req->conn->closing)
		buf_puts(out, "Connection: close\r\n");
	else if (req->parser.http_minor == 0)
		buf_puts(out, "Connection: keep-alive\r\n");
	buf_puts(out, "\r\n");
}

static void put_end(struct http_request *req, int status, const void *body,
		    size_t len)
{
	struct buf *out = &req->out;

	if (!has_no_body(status))
		put_length(out, len);
	put_connection(req);
	if (!has_no_body(status) && req->parser.method != HTTP_HEAD)
		buf_append(out, body, len);
}

/* Returns true if the connection closes after this answer, while the listener
 * drains.  A client that has already sent more requests, and must not lose any,
 * gets their answers first. */
static bool is_the_last(const struct http_request *req)
{
	const struct http_listener *l = req->conn->listener;

	if (!l->draining)
		return false;
	return !(l->patient || l->winding_down) || req->in.len <= req->parsed;
}

/* Returns false if there is no client to answer. */
static bool may_answer(struct http_request *req)
{
	struct connection *conn = req->conn;

	if (conn->fd < 0)
		return false;
	if (req->stream && stream_is_lost(req))
		return false;
	if (!req->keep_alive || is_the_last(req))
		conn->closing = true;
	if (req->unadmitted || (req->stream && !req->stream->body_done))
		conn->closing = conn->linger = true;
	return true;
}

/* --- answers -------------------------------------------------------------- */

void http_reply_lines(struct http_request *req, int status,
		      struct http_slice lines, const void *body, size_t len)
{
	if (may_answer(req)) {
		put_start(req, status);
		buf_append(&req->out, lines.data, lines.len);
		put_end(req, status, body, len);
	}
	req->conn->calls->answered(req->conn);
}

static bool fields_are_valid(const struct http_field *fields)
{
	for (; fields && fields->name; fields++) {
		if (!fields->name[0] || strpbrk(fields->name, " \t\r\n:") ||
		    !fields->value || strpbrk(fields->value, "\r\n"))
			return false;
	}
	return true;
}

static void put_fields(struct buf *out, const struct http_field *fields)
{
	for (; fields && fields->name; fields++) {
		buf_puts(out, fields->name);
		buf_puts(out, ": ");
		buf_puts(out, fields->value);
		buf_puts(out, "\r\n");
	}
}

static void reply_typed(struct http_request *req, int status, const char *type,
			const struct http_field *fields, const void *body,
			size_t len)
{
	struct buf *out = &req->out;

	if (may_answer(req)) {
		put_start(req, status);
		if (type)
			buf_printf(out, "Content-Type: %s\r\n", type);
		put_fields(out, fields);
		put_end(req, status, body, len);
	}
	req->conn->calls->answered(req->conn);
}

void http_reply(struct http_request *req, int status,
		const struct http_field *fields, const void *body, size_t len)
{
	if (fields_are_valid(fields))
		reply_typed(req, status, NULL, fields, body, len);
	else
		http_reply_problem(req, 500, NULL,
				   "the answer had an invalid header");
}

void http_reply_text(struct http_request *req, int status, const char *text)
{
	reply_typed(req, status, "text/plain; charset=utf-8", NULL, text,
		    strlen(text));
}

void http_problem_put(struct buf *out, int status, const char *type,
		      const char *detail)
{
	buf_printf(out,
		   "\"type\":\"%s\",\"title\":\"%s\",\"status\":%d,"
		   "\"detail\":",
		   type ? type : problem_type_of(status), http_reason(status),
		   status);
	json_put_lossy(out, detail, strlen(detail));
}

/* The caller frees the buffer. */
static struct buf problem_json(int status, const char *type, const char *detail,
			       const char *members)
{
	struct buf text = {0};

	buf_putc(&text, '{');
	http_problem_put(&text, status, type, detail);
	buf_puts(&text, members);
	buf_putc(&text, '}');
	return text;
}

void http_reply_problem(struct http_request *req, int status,
			const struct http_field *fields, const char *fmt, ...)
{
	char detail[PROBLEM_DETAIL_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	http_reply_typed_problem(req, status, NULL, fields, detail);
}

/* A client that is not given a time to wait may never try again. */
static const struct http_field retry_soon[] = {{"Retry-After", "1"}, {0}};

void http_reply_typed_problem(struct http_request *req, int status,
			      const char *type, const struct http_field *fields,
			      const char *detail)
{
	struct buf body = problem_json(status, type, detail, "");

	if (!fields || !fields->name || !fields_are_valid(fields))
		fields = status == 503 ? retry_soon : NULL;
	reply_typed(req, status, "application/problem+json", fields, body.data,
		    body.len);
	buf_free(&body);
}

void http_reply_problem_members(struct http_request *req, int status,
				const char *detail, const char *members)
{
	struct buf body = problem_json(status, NULL, detail, members);

	reply_typed(req, status, "application/problem+json", NULL, body.data,
		    body.len);
	buf_free(&body);
}

void reply_refusal(struct http_request *req, int status, const char *detail)
{
	struct buf body = problem_json(status, NULL, detail, "");

	req->conn->closing = req->conn->linger = true;
	put_start(req, status);
	buf_puts(&req->out, "Content-Type: application/problem+json\r\n");
	put_fields(&req->out, status == 503 ? retry_soon : NULL);
	put_end(req, status, body.data, body.len);
	buf_free(&body);
}

void reply_stream_head(struct http_request *req, int status,
		       const struct http_field *fields, bool chunked)
{
	bool valid = fields_are_valid(fields);

	/* Whether the whole body will arrive is not known yet. */
	if (!chunked || !req->keep_alive || req->conn->listener->draining)
		req->conn->closing = true;
	put_start(req, valid ? status : 500);
	if (valid)
		put_fields(&req->out, fields);
	if (chunked)
		buf_puts(&req->out, "Transfer-Encoding: chunked\r\n");
	put_connection(req);
}
