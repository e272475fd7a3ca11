#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/http/internal.h"

#define PROBLEM_DETAIL_MAX 1024

static const struct {
	int status;
	const char *line;
} status_lines[] = {
	{302, "HTTP/1.1 302 Found"},
	{200, "HTTP/1.1 200 OK"},
	{404, "HTTP/1.1 404 Not Found"},
	{100, "HTTP/1.1 100 Continue"},
	{201, "HTTP/1.1 201 Created"},
	{202, "HTTP/1.1 202 Accepted"},
	{204, "HTTP/1.1 204 No Content"},
	{301, "HTTP/1.1 301 Moved Permanently"},
	{303, "HTTP/1.1 303 See Other"},
	{304, "HTTP/1.1 304 Not Modified"},
	{307, "HTTP/1.1 307 Temporary Redirect"},
	{308, "HTTP/1.1 308 Permanent Redirect"},
	{400, "HTTP/1.1 400 Bad Request"},
	{401, "HTTP/1.1 401 Unauthorized"},
	{403, "HTTP/1.1 403 Forbidden"},
	{405, "HTTP/1.1 405 Method Not Allowed"},
	{406, "HTTP/1.1 406 Not Acceptable"},
	{408, "HTTP/1.1 408 Request Timeout"},
	{409, "HTTP/1.1 409 Conflict"},
	{410, "HTTP/1.1 410 Gone"},
	{411, "HTTP/1.1 411 Length Required"},
	{412, "HTTP/1.1 412 Precondition Failed"},
	{413, "HTTP/1.1 413 Content Too Large"},
	{414, "HTTP/1.1 414 URI Too Long"},
	{415, "HTTP/1.1 415 Unsupported Media Type"},
	{417, "HTTP/1.1 417 Expectation Failed"},
	{422, "HTTP/1.1 422 Unprocessable Content"},
	{428, "HTTP/1.1 428 Precondition Required"},
	{429, "HTTP/1.1 429 Too Many Requests"},
	{431, "HTTP/1.1 431 Request Header Fields Too Large"},
	{451, "HTTP/1.1 451 Unavailable For Legal Reasons"},
	{500, "HTTP/1.1 500 Internal Server Error"},
	{501, "HTTP/1.1 501 Not Implemented"},
	{502, "HTTP/1.1 502 Bad Gateway"},
	{503, "HTTP/1.1 503 Service Unavailable"},
	{504, "HTTP/1.1 504 Gateway Timeout"},
	{505, "HTTP/1.1 505 HTTP Version Not Supported"},
	{507, "HTTP/1.1 507 Insufficient Storage"},
};

static const char *status_line(int status)
{
	size_t i;

	for (i = 0; i < sizeof(status_lines) / sizeof(status_lines[0]); i++) {
		if (status_lines[i].status == status)
			return status_lines[i].line;
	}
	return NULL;
}

const char *http_reason(int status)
{
	const char *line = status_line(status);

	return line ? line + strlen("HTTP/1.1 200 ") : "Unknown";
}

/* --- the parts of an answer ----------------------------------------------- */

static void put_start(struct http_request *req, int status)
{
	const char *line = status_line(status);

	if (line)
		buf_puts(&req->out, line);
	else
		buf_printf(&req->out, "HTTP/1.1 %03d Unknown", status);
	buf_append(&req->out, listener_date(req->conn->listener),
		   HTTP_DATE_LEN);
}

static bool has_no_body(int status)
{
	return status < 200 || status == 204 || status == 304;
}

static void put_length(struct buf *out, size_t len)
{
	char digits[24];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + len % 10);
		len /= 10;
	} while (len > 0);
	buf_puts(out, "Content-Length: ");
	buf_append(out, digits + at, sizeof(digits) - at);
	buf_puts(out, "\r\n");
}

static void put_end(struct http_request *req, int status, const void *body,
		    size_t len)
{
	struct connection *conn = req->conn;
	struct buf *out = &req->out;

	if (!has_no_body(status))
		put_length(out, len);
	if (conn->closing)
		buf_puts(out, "Connection: close\r\n");
	else if (req->parser.http_minor == 0)
		buf_puts(out, "Connection: keep-alive\r\n");
	buf_puts(out, "\r\n");
	if (!has_no_body(status) && req->parser.method != HTTP_HEAD)
		buf_append(out, body, len);
}

/* False when there is nobody to answer. */
static bool may_answer(struct http_request *req)
{
	struct connection *conn = req->conn;

	if (conn->fd < 0)
		return false;
	if (!req->keep_alive || conn->listener->draining)
		conn->closing = true;
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
	connection_answered(req->conn);
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

static void reply_typed(struct http_request *req, int status, const char *type,
			const struct http_field *fields, const void *body,
			size_t len)
{
	struct buf *out = &req->out;

	if (may_answer(req)) {
		put_start(req, status);
		if (type)
			buf_printf(out, "Content-Type: %s\r\n", type);
		for (; fields && fields->name; fields++) {
			buf_puts(out, fields->name);
			buf_puts(out, ": ");
			buf_puts(out, fields->value);
			buf_puts(out, "\r\n");
		}
		put_end(req, status, body, len);
	}
	connection_answered(req->conn);
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

/* To be freed, or NULL (out of memory). */
static char *problem_json(int status, const char *detail)
{
	json_t *problem =
		json_pack("{s:s, s:i, s:s*}", "title", http_reason(status),
			  "status", status, "detail", detail);
	char *text;

	/* What is not UTF-8 cannot be said in JSON. */
	if (!problem)
		problem = json_pack("{s:s, s:i}", "title", http_reason(status),
				    "status", status);
	text = problem ? json_dumps(problem, JSON_COMPACT) : NULL;
	json_decref(problem);
	return text;
}

void http_reply_problem(struct http_request *req, int status,
			const struct http_field *fields, const char *fmt, ...)
{
	char detail[PROBLEM_DETAIL_MAX];
	char *body;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	body = problem_json(status, detail);
	if (!fields_are_valid(fields))
		fields = NULL;
	reply_typed(req, status, "application/problem+json", fields,
		    body ? body : "", body ? strlen(body) : 0);
	free(body);
}

void reply_refusal(struct http_request *req, int status, const char *detail)
{
	char *body = problem_json(status, detail);

	req->conn->closing = req->conn->linger = true;
	put_start(req, status);
	buf_puts(&req->out, "Content-Type: application/problem+json\r\n");
	if (status == 503)
		buf_puts(&req->out, "Retry-After: 1\r\n");
	put_end(req, status, body ? body : "", body ? strlen(body) : 0);
	free(body);
}
