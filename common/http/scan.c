#include "common/http/scan.h"

#include <string.h>

#include "common/http/check.h"
#include "common/http/field_text.h"
#include "common/http/request.h"

/* The rest of the input, and what the headers read so far have set. */
struct scan {
	struct http_request *req;
	const char *base; /* the first byte of the request */
	const char *at, *end;
	bool has_host, has_connection;
};

static uint32_t offset_of(const struct scan *s, const char *at)
{
	return (uint32_t)(at - s->base);
}

static bool skip_text(struct scan *s, const char *text, size_t len)
{
	if ((size_t)(s->end - s->at) < len || memcmp(s->at, text, len) != 0)
		return false;
	s->at += len;
	return true;
}

/* Characters that RFC 3986 allows in a path and a query; the parser handles
 * others. */
static bool is_plain(char c)
{
	static const bool plain[256] = {
		['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1,
		['-'] = 1,	   ['.'] = 1,	      ['_'] = 1,
		['~'] = 1,	   ['!'] = 1,	      ['$'] = 1,
		['&'] = 1,	   ['\''] = 1,	      ['('] = 1,
		[')'] = 1,	   ['*'] = 1,	      ['+'] = 1,
		[','] = 1,	   [';'] = 1,	      ['='] = 1,
		[':'] = 1,	   ['@'] = 1,	      ['%'] = 1,
		['/'] = 1,	   ['?'] = 1,
	};

	return plain[(unsigned char)c];
}

static bool scan_request_line(struct scan *s)
{
	struct http_request *req = s->req;

	if (skip_text(s, "GET /", 5))
		req->parser.method = HTTP_GET;
	else if (skip_text(s, "HEAD /", 6))
		req->parser.method = HTTP_HEAD;
	else
		return false;
	req->url = offset_of(s, s->at) - 1;
	while (s->at < s->end && is_plain(*s->at))
		s->at++;
	req->url_len = offset_of(s, s->at) - req->url;
	return skip_text(s, " HTTP/1.1\r\n", 11);
}

static bool scan_connection(struct scan *s, struct http_slice value)
{
	bool seen = s->has_connection;

	s->has_connection = true;
	s->req->keep_alive = http_slice_is_nocase(value, "keep-alive");
	return !seen &&
	       (s->req->keep_alive || http_slice_is_nocase(value, "close"));
}

/* Returns false for a header that affects how the request is read. */
static bool is_harmless(struct scan *s, struct http_slice name,
			struct http_slice value)
{
	switch (name.len) {
	case 4:
		if (!http_name_is(name, "host"))
			return true;
		if (s->has_host)
			return false;
		s->has_host = true;
		return check_host(value);
	case 6:
		return !http_name_is(name, "expect");
	case 7:
		return !http_name_is(name, "upgrade");
	case 10:
		return !http_name_is(name, "connection") ||
		       scan_connection(s, value);
	case 14:
		return !http_name_is(name, "content-length");
	case 17:
		return !http_name_is(name, "transfer-encoding");
	default:
		return true;
	}
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* Scans one header line. */
static bool scan_header(struct scan *s)
{
	struct http_slice name = {s->at, 0}, value;
	const char *end;

	while (s->at < s->end && check_is_tchar(*s->at))
		s->at++;
	name.len = (size_t)(s->at - name.data);
	if (name.len == 0 || !skip_text(s, ":", 1))
		return false;
	value.data = skip_blanks(s->at, s->end);
	end = field_text_end(value.data, s->end);
	s->at = end;
	if (!skip_text(s, "\r\n", 2))
		return false;
	while (end > value.data && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	value.len = (size_t)(end - value.data);
	s->req->headers[s->req->header_count++] = (struct header_ref){
		offset_of(s, name.data), (uint32_t)name.len,
		offset_of(s, value.data), (uint32_t)value.len};
	return is_harmless(s, name, value);
}

static bool scan_headers(struct scan *s)
{
	const struct http_config *config = request_config(s->req);

	while (!skip_text(s, "\r\n", 2)) {
		if (s->req->header_count == config->max_headers ||
		    !scan_header(s))
			return false;
	}
	return s->has_host && s->at - s->base <= config->max_header_bytes;
}

bool scan_request(struct http_request *req)
{
	struct scan s = {.req = req,
			 .base = request_base(req),
			 .at = request_base(req),
			 .end = req->in.data + req->in.len};

	req->keep_alive = true;
	if (!scan_request_line(&s) || !scan_headers(&s)) {
		req->url = req->url_len = req->header_count = 0;
		return false;
	}
	req->parser.flags = 0;
	req->parser.http_minor = 1;
	req->parser.content_length = 0;
	req->begun = req->headers_done = true;
	req->header_len = offset_of(&s, s.at);
	req->body = req->header_len;
	req->parsed = req->start + req->header_len;
	return true;
}
