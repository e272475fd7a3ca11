#include "common/http/check.h"

#include <string.h>

#include "common/http/request.h"

/*
 * What llhttp lets pass, depending on its version, and must not: whatever
 * another server on the way could read as the end of a line, or as another
 * length (RFC 9112, 11.2).
 */

int request_refuse(struct http_request *req, int status, const char *detail)
{
	if (!req->refusal) {
		req->refusal = status;
		req->refusal_detail = detail;
	}
	return -1;
}

static bool has(const struct http_request *req, size_t pos, const char *text)
{
	size_t len = strlen(text);

	return req->start + pos + len <= req->in.len &&
	       memcmp(request_base(req) + pos, text, len) == 0;
}

static uint32_t skip_blanks(const struct http_request *req, uint32_t pos)
{
	const char *at = request_base(req) + pos;
	const char *end = req->in.data + req->in.len;

	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return (uint32_t)(at - request_base(req));
}

/* Method, one space, target, one space, version, CRLF.  Returns the offset of
 * the next line, or 0. */
static uint32_t check_request_line(const struct http_request *req)
{
	const char *base = request_base(req);
	uint32_t pos = req->url + req->url_len;

	if (req->url < 2 || base[req->url - 1] != ' ' ||
	    memchr(base, ' ', req->url - 1) != NULL)
		return 0;
	if (!has(req, pos, " HTTP/1.0\r\n") && !has(req, pos, " HTTP/1.1\r\n"))
		return 0;
	return pos + 11;
}

/* tchar of RFC 9110, 5.6.2. */
static bool is_token(const char *text, size_t len)
{
	static const bool token[256] = {
		['!'] = 1,	   ['#' ... '\''] = 1, ['*'] = 1,
		['+'] = 1,	   ['-'] = 1,	       ['.'] = 1,
		['0' ... '9'] = 1, ['A' ... 'Z'] = 1,  ['^' ... 'z'] = 1,
		['|'] = 1,	   ['~'] = 1,
	};
	size_t i;

	for (i = 0; i < len; i++) {
		if (!token[(unsigned char)text[i]])
			return false;
	}
	return len > 0;
}

/* Name, colon, value, CRLF: no space before the colon, no fold, no control
 * character that ends lines for somebody else.  Returns the offset of the next
 * line, or 0. */
static uint32_t check_header_line(const struct http_request *req,
				  struct header_ref *h, uint32_t pos)
{
	const char *base = request_base(req);

	if (h->name != pos || !is_token(base + pos, h->name_len) ||
	    !has(req, h->name + h->name_len, ":"))
		return 0;
	pos = skip_blanks(req, h->name + h->name_len + 1);
	if (h->value_len == 0)
		h->value = pos;
	if (h->value != pos || memchr(base + pos, '\r', h->value_len) ||
	    memchr(base + pos, '\n', h->value_len) ||
	    memchr(base + pos, '\0', h->value_len))
		return 0;
	while (h->value_len > 0 && (base[pos + h->value_len - 1] == ' ' ||
				    base[pos + h->value_len - 1] == '\t'))
		h->value_len--;
	pos = skip_blanks(req, h->value + h->value_len);
	return has(req, pos, "\r\n") ? pos + 2 : 0;
}

static int check_lines(struct http_request *req)
{
	uint32_t pos = check_request_line(req);
	uint32_t i;

	if (pos == 0)
		return request_refuse(req, 400, "malformed request line");
	for (i = 0; i < req->header_count; i++) {
		pos = check_header_line(req, &req->headers[i], pos);
		if (pos == 0)
			return request_refuse(req, 400,
					      "malformed header line");
	}
	if (!has(req, pos, "\r\n"))
		return request_refuse(req, 400, "malformed end of headers");
	req->header_len = pos + 2;
	req->body = req->header_len;
	if (req->header_len > request_config(req)->max_header_bytes)
		return request_refuse(req, 431, "the headers are too long");
	return 0;
}

/* The headers that decide where a request ends and whom it is for. */
struct framing {
	unsigned hosts, lengths, codings, expects;
	struct http_slice host, coding, expect;
};

static void note_framing(struct framing *f, const struct http_header *h)
{
	/* By length first: this looks at every header of every request. */
	switch (h->name.len) {
	case 4:
		if (http_slice_is_nocase(h->name, "host")) {
			f->hosts++;
			f->host = h->value;
		}
		break;
	case 6:
		if (http_slice_is_nocase(h->name, "expect")) {
			f->expects++;
			f->expect = h->value;
		}
		break;
	case 14:
		f->lengths += http_slice_is_nocase(h->name, "content-length");
		break;
	case 17:
		if (http_slice_is_nocase(h->name, "transfer-encoding")) {
			f->codings++;
			f->coding = h->value;
		}
		break;
	default:
		break;
	}
}

static void collect_framing(const struct http_request *req, struct framing *f)
{
	struct http_header h;
	size_t i;

	for (i = 0; i < req->header_count; i++) {
		h = http_header_at(req, i);
		note_framing(f, &h);
	}
}

static bool host_is_valid(struct http_slice host)
{
	static const char marks[] = "-._~%!$&'()*+,;=:[]";
	size_t i;
	char c;

	for (i = 0; i < host.len; i++) {
		c = host.data[i];
		if ((c < '0' || c > '9') && (c < 'a' || c > 'z') &&
		    (c < 'A' || c > 'Z') &&
		    !memchr(marks, c, sizeof(marks) - 1))
			return false;
	}
	return true;
}

static int check_framing(struct http_request *req)
{
	bool is_1_1 = req->parser.http_minor > 0;
	struct framing f = {0};

	collect_framing(req, &f);
	if (f.hosts > 1 || (f.hosts == 0 && is_1_1) || !host_is_valid(f.host))
		return request_refuse(req, 400,
				      "one valid Host header is needed");
	if (f.lengths > 1 || (f.lengths == 1 && f.codings > 0))
		return request_refuse(req, 400, "contradictory body length");
	if (f.codings > 0 && !is_1_1)
		return request_refuse(req, 400,
				      "Transfer-Encoding in HTTP/1.0");
	if (f.codings > 1 ||
	    (f.codings == 1 && !http_slice_is_nocase(f.coding, "chunked")))
		return request_refuse(
			req, 400,
			"the only Transfer-Encoding accepted is chunked");
	if (is_1_1 && f.expects > 0) {
		if (!http_slice_is_nocase(f.expect, "100-continue"))
			return request_refuse(req, 417, "unknown expectation");
		req->expects = true;
	}
	return 0;
}

int check_headers(struct http_request *req)
{
	return check_lines(req) < 0 ? -1 : check_framing(req);
}

/* --- trailers ------------------------------------------------------------- */

int check_trailer_name(struct http_request *req, const char *name, size_t len)
{
	/* A name that is split between two reads may end in a part of none. */
	if (len == 0 || is_token(name, len))
		return 0;
	return request_refuse(req, 400, "malformed trailer");
}

/* Its fields are dropped, but where its lines end is where another request may
 * begin: CR and LF come in pairs, and no line continues the one before. */
int check_trailer(struct http_request *req, const char *bytes, size_t len)
{
	char before = req->trailer_len ? req->trailer_last : '\n';
	char c;

	for (size_t i = 0; i < len; i++, before = c) {
		c = bytes[i];
		if ((c == '\n') != (before == '\r') || c == '\0' ||
		    (before == '\n' && (c == ' ' || c == '\t')))
			return request_refuse(req, 400, "malformed trailer");
	}
	req->trailer_last = before;
	req->trailer_len += len;
	if (req->trailer_len > (size_t)request_config(req)->max_header_bytes)
		return request_refuse(req, 431, "the trailer is too long");
	return 0;
}
