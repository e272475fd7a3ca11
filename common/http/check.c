#include "common/http/check.h"

#include <arpa/inet.h>
#include <string.h>

#include "common/http/request.h"

/*
 * Checks for what llhttp, depending on its version, accepts and must not:
 * whatever another server on the way could read as the end of a line, or as
 * another length (RFC 9112, 11.2).
 */

int request_refuse(struct http_request *req, int status, const char *detail)
{
	if (!req->refusal) {
		req->refusal = status;
		req->refusal_detail = detail;
	}
	return -1;
}

static bool has_text_at(const struct http_request *req, size_t pos,
			const char *text)
{
	size_t len = strlen(text);

	return req->start + pos + len <= req->in.len &&
	       memcmp(request_base(req) + pos, text, len) == 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static uint32_t skip_blanks(const struct http_request *req, uint32_t pos)
{
	const char *at = request_base(req) + pos;
	const char *end = req->in.data + req->in.len;

	while (at < end && is_blank(*at))
		at++;
	return (uint32_t)(at - request_base(req));
}

/* Checks for method, one space, target, one space, version, CRLF.  Returns the
 * offset of the next line, or 0. */
static uint32_t check_request_line(const struct http_request *req)
{
	const char *base = request_base(req);
	uint32_t pos = req->url + req->url_len;

	if (req->url < 2 || base[req->url - 1] != ' ' ||
	    memchr(base, ' ', req->url - 1) != NULL)
		return 0;
	if (!has_text_at(req, pos, " HTTP/1.0\r\n") &&
	    !has_text_at(req, pos, " HTTP/1.1\r\n"))
		return 0;
	return pos + 11;
}

const bool check_tchars[256] = {
	['!'] = 1,	   ['#' ... '\''] = 1, ['*'] = 1,
	['+'] = 1,	   ['-'] = 1,	       ['.'] = 1,
	['0' ... '9'] = 1, ['A' ... 'Z'] = 1,  ['^' ... 'z'] = 1,
	['|'] = 1,	   ['~'] = 1,
};

bool check_is_token(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (!check_is_tchar(text[i]))
			return false;
	}
	return len > 0;
}

/* Checks for name, colon, value, CRLF: no space before the colon, no fold, no
 * control character that another server takes for a line end.  Returns the
 * offset of the next line, or 0. */
static uint32_t check_header_line(const struct http_request *req,
				  struct header_ref *h, uint32_t pos)
{
	const char *base = request_base(req);

	if (h->name != pos || !check_is_token(base + pos, h->name_len) ||
	    !has_text_at(req, h->name + h->name_len, ":"))
		return 0;
	pos = skip_blanks(req, h->name + h->name_len + 1);
	if (h->value_len == 0)
		h->value = pos;
	if (h->value != pos || memchr(base + pos, '\r', h->value_len) ||
	    memchr(base + pos, '\n', h->value_len) ||
	    memchr(base + pos, '\0', h->value_len))
		return 0;
	while (h->value_len > 0 && is_blank(base[pos + h->value_len - 1]))
		h->value_len--;
	pos = skip_blanks(req, h->value + h->value_len);
	return has_text_at(req, pos, "\r\n") ? pos + 2 : 0;
}

int check_too_long(struct http_request *req)
{
	size_t max = (size_t)request_config(req)->max_header_bytes;

	if (!memchr(request_base(req), '\n', max))
		return request_refuse(req, 414, "the request line is too long");
	return request_refuse(req, 431, "the headers are too long");
}

static int refuse_request_line(struct http_request *req)
{
	if (req->parser.http_major != 1 &&
	    has_text_at(req, req->url + req->url_len, " HTTP/"))
		return request_refuse(req, 505, "this server speaks HTTP/1.1");
	return request_refuse(req, 400, "malformed request line");
}

static int check_lines(struct http_request *req)
{
	uint32_t pos = check_request_line(req);
	uint32_t i;

	if (pos == 0)
		return refuse_request_line(req);
	for (i = 0; i < req->header_count; i++) {
		pos = check_header_line(req, &req->headers[i], pos);
		if (pos == 0)
			return request_refuse(req, 400,
					      "malformed header line");
	}
	if (!has_text_at(req, pos, "\r\n"))
		return request_refuse(req, 400, "malformed end of headers");
	req->header_len = pos + 2;
	req->body = req->header_len;
	if (req->header_len > request_config(req)->max_header_bytes)
		return check_too_long(req);
	return 0;
}

/* The headers that determine where a request ends, which host it is for and
 * whether another may follow. */
struct framing {
	unsigned hosts, lengths, codings, expects;
	bool close, keep_alive;
	struct http_slice host, coding, expect;
};

/* llhttp misses a `close` between tabs, and ignores it beside `keep-alive` in
 * HTTP/1.0: the bytes that follow would be parsed as a request. */
static void note_options(struct framing *f, struct http_slice options)
{
	struct http_slice option;

	while (options.len > 0) {
		option = http_slice_cut(&options, ',');
		f->close |= http_slice_is_nocase(option, "close");
		f->keep_alive |= http_slice_is_nocase(option, "keep-alive");
	}
}

static void note_framing(struct framing *f, const struct http_header *h)
{
	/* The length is compared first: this runs for every header of every
	 * request. */
	switch (h->name.len) {
	case 4:
		if (http_name_is(h->name, "host")) {
			f->hosts++;
			f->host = h->value;
		}
		break;
	case 6:
		if (http_name_is(h->name, "expect")) {
			f->expects++;
			f->expect = h->value;
		}
		break;
	case 10:
		if (http_name_is(h->name, "connection"))
			note_options(f, h->value);
		break;
	case 14:
		f->lengths += http_name_is(h->name, "content-length");
		break;
	case 17:
		if (http_name_is(h->name, "transfer-encoding")) {
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

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
	       (c >= 'A' && c <= 'F');
}

/* Returns the end of a reg-name (RFC 3986, 3.2.2), which may be empty. */
static const char *skip_name(const char *at, const char *end)
{
	static const bool name[256] = {
		['!'] = 1,	   ['$'] = 1, ['&' ... '.'] = 1,
		['0' ... '9'] = 1, [';'] = 1, ['='] = 1,
		['A' ... 'Z'] = 1, ['_'] = 1, ['a' ... 'z'] = 1,
		['~'] = 1,
	};

	for (;;) {
		while (at < end && name[(unsigned char)*at])
			at++;
		if (end - at < 3 || *at != '%' || !is_hex(at[1]) ||
		    !is_hex(at[2]))
			return at;
		at += 3;
	}
}

/* Returns the end of an IPv6 address in brackets, or `at` if there is none. */
static const char *skip_address(const char *at, const char *end)
{
	char text[INET6_ADDRSTRLEN];
	const char *close = memchr(at, ']', (size_t)(end - at));
	size_t len = close ? (size_t)(close - at) - 1 : 0;
	struct in6_addr address;

	if (len == 0 || len >= sizeof(text))
		return at;
	memcpy(text, at + 1, len);
	text[len] = '\0';
	return inet_pton(AF_INET6, text, &address) == 1 ? close + 1 : at;
}

bool check_host(struct http_slice host)
{
	const char *at = host.data, *end = at + host.len;

	if (at < end && *at == '[')
		at = skip_address(at, end);
	else
		at = skip_name(at, end);
	if (at < end && *at++ != ':')
		return false;
	while (at < end && *at >= '0' && *at <= '9')
		at++;
	return at == end;
}

/* Returns true for a transfer coding that is not known here, followed by
 * chunked. */
static bool is_foreign_coding(struct http_slice codings)
{
	struct http_slice coding = http_slice_cut(&codings, ',');

	if (coding.len == 0)
		return false;
	while (codings.len > 0 && !http_slice_is_nocase(coding, "chunked"))
		coding = http_slice_cut(&codings, ',');
	return codings.len == 0 && http_slice_is_nocase(coding, "chunked");
}

static int check_coding(struct http_request *req, const struct framing *f,
			bool is_1_1)
{
	if (!is_1_1)
		return request_refuse(req, 400,
				      "Transfer-Encoding in HTTP/1.0");
	if (f->codings == 1 && http_slice_is_nocase(f->coding, "chunked"))
		return 0;
	return request_refuse(
		req,
		f->codings == 1 && is_foreign_coding(f->coding) ? 501 : 400,
		"the only Transfer-Encoding accepted is chunked");
}

static int check_framing(struct http_request *req)
{
	bool is_1_1 = req->parser.http_minor > 0;
	struct framing f = {0};

	collect_framing(req, &f);
	if (f.hosts > 1 || (f.hosts == 0 && is_1_1) ||
	    (f.hosts == 1 && !check_host(f.host)))
		return request_refuse(req, 400,
				      "one valid Host header is needed");
	if (f.lengths > 1 || (f.lengths == 1 && f.codings > 0))
		return request_refuse(req, 400, "contradictory body length");
	if (f.codings > 0 && check_coding(req, &f, is_1_1) < 0)
		return -1;
	if (is_1_1 && f.expects > 0) {
		if (!http_slice_is_nocase(f.expect, "100-continue"))
			return request_refuse(req, 417, "unknown expectation");
		req->expects = true;
	}
	req->keep_alive = !f.close && (is_1_1 || f.keep_alive);
	return 0;
}

int check_headers(struct http_request *req)
{
	return check_lines(req) < 0 ? -1 : check_framing(req);
}

/* --- trailers ------------------------------------------------------------- */

int check_trailer_name(struct http_request *req, const char *name, size_t len)
{
	/* A name that is split between two reads may end in an empty part. */
	if (len == 0 || check_is_token(name, len))
		return 0;
	return request_refuse(req, 400, "malformed trailer");
}

/* Trailer fields are dropped, but the end of the trailer decides where another
 * request may begin: CR and LF come in pairs, and no line continues the
 * previous one. */
int check_trailer(struct http_request *req, const char *bytes, size_t len)
{
	char before = req->trailer_len ? req->trailer_last : '\n';
	char c;

	for (size_t i = 0; i < len; i++, before = c) {
		c = bytes[i];
		if ((c == '\n') != (before == '\r') || c == '\0' ||
		    (before == '\n' && (is_blank(c) || c == ':')))
			return request_refuse(req, 400, "malformed trailer");
	}
	req->trailer_last = before;
	req->trailer_len += len;
	if (req->trailer_len > (size_t)request_config(req)->max_header_bytes)
		return request_refuse(req, 431, "the trailer is too long");
	return 0;
}
