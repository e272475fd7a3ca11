#include "common/http/parse.h"

#include <string.h>
#include <strings.h>

#include "common/http/check.h"
#include "common/http/request.h"
#include "common/http/scan.h"

/* The maximum ratio of chunk framing to the body it frames: a client that sends
 * its body a byte at a time needs six bytes for one. */
#define FRAMING_FACTOR 8

/* Returns where a span that llhttp found ends, from the start of the
 * request. */
static uint32_t end_of(const struct http_request *req, const char *at,
		       size_t len)
{
	return (uint32_t)(at + len - request_base(req));
}

/* --- llhttp's callbacks --------------------------------------------------- */

/* A span that is split between two reads comes in two calls, end to end. */
static int on_url(llhttp_t *parser, const char *at, size_t len)
{
	struct http_request *req = parser->data;

	if (req->url == 0)
		req->url = end_of(req, at, 0);
	req->url_len = end_of(req, at, len) - req->url;
	return 0;
}

static int on_header_field(llhttp_t *parser, const char *at, size_t len)
{
	struct http_request *req = parser->data;
	struct header_ref *header;

	if (req->headers_done) {
		if (!req->trailing)
			req->trailer_from = (size_t)(at - req->in.data);
		req->trailing = true;
		return check_trailer_name(req, at, len);
	}
	if (!req->header_open) {
		if (req->header_count == request_config(req)->max_headers)
			return request_refuse(req, 431,
					      "too many header lines");
		header = &req->headers[req->header_count++];
		*header = (struct header_ref){.name = end_of(req, at, 0)};
		req->header_open = true;
	}
	header = &req->headers[req->header_count - 1];
	header->name_len = end_of(req, at, len) - header->name;
	return 0;
}

static int on_header_value(llhttp_t *parser, const char *at, size_t len)
{
	struct http_request *req = parser->data;
	struct header_ref *header;

	if (req->headers_done)
		return 0; /* a field of a trailer, which is dropped */
	if (req->header_count == 0)
		return request_refuse(req, 400, "malformed header line");
	header = &req->headers[req->header_count - 1];
	if (header->value == 0)
		header->value = end_of(req, at, 0);
	header->value_len = end_of(req, at, len) - header->value;
	return 0;
}

static int on_header_value_complete(llhttp_t *parser)
{
	struct http_request *req = parser->data;

	req->header_open = false;
	return 0;
}

/* Returns 0 if the request is not to be streamed. */
static int decide_streaming(struct http_request *req)
{
	struct http_listener *l = req->conn->listener;

	if (parse_target(req) < 0)
		return -1;
	req->chosen = l->choose(req, l->arg);
	return req->chosen;
}

bool parse_is_too_long(const struct http_request *req)
{
	return req->parser.content_length > req->body_max;
}

/* Returns true if `admit` has to be called for a body that is still to come. */
static bool has_to_be_admitted(const struct http_request *req)
{
	size_t there = req->in.len - req->start - req->body;

	if (!req->conn->listener->admit)
		return false;
	return req->parser.flags & F_CHUNKED ||
	       req->parser.content_length > there;
}

static int on_headers_complete(llhttp_t *parser)
{
	struct http_request *req = parser->data;

	if (check_headers(req) < 0)
		return -1;
	if (parser->method == HTTP_CONNECT)
		return request_refuse(req, 501, "this is not a proxy");
	/* A request to upgrade may be ignored, and is. */
	parser->upgrade = 0;
	req->headers_done = true;
	if (req->conn->listener->choose && decide_streaming(req) != 0)
		return req->chosen ? HPE_PAUSED : -1;
	if (has_to_be_admitted(req)) {
		req->unadmitted = true;
		return parse_target(req) < 0 ? -1 : HPE_PAUSED;
	}
	if (parse_is_too_long(req))
		return request_refuse(req, 413, "the body is too long");
	return 0;
}

static int on_chunk_header(llhttp_t *parser)
{
	struct http_request *req = parser->data;

	if (!req->stream &&
	    parser->content_length > req->body_max - req->body_len)
		return request_refuse(req, 413, "the body is too long");
	return 0;
}

/* Moves the chunks together, over the framing between them. */
static int on_body(llhttp_t *parser, const char *at, size_t len)
{
	struct http_request *req = parser->data;
	char *end = req->in.data + req->start + req->body + req->body_len;

	if (at != end)
		memmove(end, at, len);
	req->body_len += len;
	return 0;
}

static int on_message_complete(llhttp_t *parser)
{
	(void)parser;
	return HPE_PAUSED;
}

static const llhttp_settings_t callbacks = {
	.on_url = on_url,
	.on_header_field = on_header_field,
	.on_header_value = on_header_value,
	.on_header_value_complete = on_header_value_complete,
	.on_headers_complete = on_headers_complete,
	.on_chunk_header = on_chunk_header,
	.on_body = on_body,
	.on_message_complete = on_message_complete,
};

/* --- from bytes to a request ---------------------------------------------- */

/* Some clients send an empty line after a body (RFC 9112, 2.2). */
static bool skip_empty_lines(struct http_request *req)
{
	const char *at;

	while (req->in.len - req->start >= 2) {
		at = request_base(req);
		if (at[0] != '\r' || at[1] != '\n')
			return true;
		req->start += 2;
	}
	return req->in.len > req->start && *request_base(req) != '\r';
}

static int start_parser(struct http_request *req)
{
	llhttp_init(&req->parser, HTTP_REQUEST, &callbacks);
	if (!check_is_token(request_base(req), 1))
		return request_refuse(req, 400, "not an HTTP request");
	req->parser.data = req;
	req->body_max = (size_t)request_config(req)->max_body_bytes;
	req->parsed = req->start;
	req->begun = true;
	return 0;
}

/* Uses the host of an absolute target in place of the header's (RFC 9112,
 * 3.2.2), which HTTP/1.0 may lack. */
static int take_authority(struct http_request *req, uint32_t at, uint32_t len)
{
	struct http_slice host = {request_base(req) + at, len};
	struct header_ref *h = req->headers;

	if (len == 0 || host.data[0] == ':' || !check_host(host))
		return request_refuse(req, 400,
				      "no valid host in the request target");
	req->authority = at;
	req->authority_len = len;
	for (; h < req->headers + req->header_count; h++) {
		if (h->name_len == 4 &&
		    strncasecmp(request_base(req) + h->name, "host", 4) == 0) {
			h->value = at;
			h->value_len = len;
		}
	}
	return 0;
}

/* Returns 0 if the URL does not begin with a scheme. */
static uint32_t length_of_scheme(struct http_slice url)
{
	if (url.len > 7 && strncasecmp(url.data, "http://", 7) == 0)
		return 7;
	if (url.len > 8 && strncasecmp(url.data, "https://", 8) == 0)
		return 8;
	return 0;
}

/* Sets the target without its query; for an absolute target, the part after the
 * host. */
int parse_target(struct http_request *req)
{
	struct http_slice url = {request_base(req) + req->url, req->url_len};
	uint32_t scheme = length_of_scheme(url), skip = scheme;
	const char *mark;

	while (skip > 0 && skip < url.len && !strchr("/?#", url.data[skip]))
		skip++;
	if (skip > 0 &&
	    take_authority(req, req->url + scheme, skip - scheme) < 0)
		return -1;
	url.data += skip;
	url.len -= skip;
	if (memchr(url.data, '#', url.len))
		return request_refuse(req, 400,
				      "a fragment in the request target");
	mark = memchr(url.data, '?', url.len);
	req->path = (struct http_slice){
		url.data, mark ? (size_t)(mark - url.data) : url.len};
	req->query = (struct http_slice){NULL, 0};
	if (mark)
		req->query = (struct http_slice){mark + 1,
						 url.len - req->path.len - 1};
	if (skip > 0 && req->path.len == 0)
		req->path = (struct http_slice){"/", 1};
	if (req->path.len > 0 && req->path.data[0] == '/')
		return 0;
	if (http_slice_is(req->path, "*") && !mark &&
	    req->parser.method == HTTP_OPTIONS)
		return 0;
	return request_refuse(req, 400, "the request target is not a path");
}

/* `end` is the offset in `in` after the request; the bytes before `from` were
 * parsed in an earlier read, the last of them is `before`. */
static int check_chunked_end(struct http_request *req, size_t from, size_t end,
			     char before)
{
	char last_but_one = before;

	if (end >= from + 2)
		last_but_one = req->in.data[end - 2];
	if (last_but_one != '\r' || req->in.data[end - 1] != '\n')
		return request_refuse(req, 400,
				      "malformed end of the last chunk");
	return 0;
}

/* Takes the part of the trailer between two offsets in `in`. */
static int take_trailer(struct http_request *req, size_t from, size_t end)
{
	if (!req->trailing)
		return 0;
	if (req->trailer_from > from)
		from = req->trailer_from;
	req->trailer_from = 0;
	return check_trailer(req, req->in.data + from, end - from);
}

static enum parse_result complete_request(struct http_request *req, size_t from,
					  char before)
{
	const char *end = llhttp_get_error_pos(&req->parser);

	req->parsed = (size_t)(end - req->in.data);
	if (take_trailer(req, from, req->parsed) < 0)
		return PARSE_REFUSED;
	if ((req->parser.flags & F_CHUNKED) &&
	    check_chunked_end(req, from, req->parsed, before) < 0)
		return PARSE_REFUSED;
	if (!req->stream && parse_target(req) < 0)
		return PARSE_REFUSED;
	return PARSE_COMPLETE;
}

static enum parse_result headers_complete(struct http_request *req)
{
	req->parsed = req->start + req->body;
	req->last = '\n';
	return PARSE_HEADERS;
}

/* All bytes are parsed.  Of a body only its content is kept, without
 * framing. */
static enum parse_result keep_partial_request(struct http_request *req,
					      size_t fed)
{
	const struct http_config *config = request_config(req);

	if (!req->headers_done) {
		req->parsed = req->in.len;
		if (req->in.len - req->start <=
		    (size_t)config->max_header_bytes)
			return PARSE_MORE;
		check_too_long(req);
		return PARSE_REFUSED;
	}
	if (take_trailer(req, req->in.len - fed, req->in.len) < 0)
		return PARSE_REFUSED;
	req->in.len = req->start + req->body + req->body_len;
	req->parsed = req->in.len;
	req->body_bytes += fed;
	if (req->body_bytes / FRAMING_FACTOR <=
	    req->body_max + (uint64_t)config->max_header_bytes)
		return PARSE_MORE;
	request_refuse(req, 413, "too much chunk framing");
	return PARSE_REFUSED;
}

/* Returns true for any method, a target and an HTTP/1 version. */
static bool is_request_line(const char *line, const char *end)
{
	static const char version[] = " HTTP/1.1\r";
	const char *target = memchr(line, ' ', (size_t)(end - line));
	const size_t len = sizeof(version) - 1;

	return target && (size_t)(end - target) > len &&
	       check_is_token(line, (size_t)(target - line)) &&
	       (memcmp(end - len, version, len) == 0 ||
		memcmp(end - len, " HTTP/1.0\r", len) == 0);
}

/* llhttp stops at the first letter that is in no method it knows.  Only the end
 * of the line shows whether it is an unknown method (501; RFC 9110, 9.1). */
static enum parse_result unknown_method(struct http_request *req)
{
	const char *line = request_base(req);
	size_t len = req->in.len - req->start;
	const char *space = memchr(line, ' ', len);
	const char *end = memchr(line, '\n', len);

	if (!end && check_is_token(line, space ? (size_t)(space - line) : len))
		return keep_partial_request(req, 0);
	/* The answer has a body, also that of a HEADX. */
	req->parser.method = HTTP_GET;
	if (end && is_request_line(line, end))
		request_refuse(req, 501, "the method is not known");
	else
		request_refuse(req, 400, "not an HTTP request");
	return PARSE_REFUSED;
}

static enum parse_result refuse_parse_error(struct http_request *req,
					    llhttp_errno_t code)
{
	const char *reason = llhttp_get_error_reason(&req->parser);

	if (code == HPE_INVALID_METHOD && !req->refusal)
		return unknown_method(req);
	/* llhttp 9 reports a bare LF after the version as an invalid
	 * version. */
	if (code == HPE_INVALID_VERSION && reason && strstr(reason, "CRLF"))
		request_refuse(req, 400, reason);
	else if (code == HPE_PAUSED_H2_UPGRADE || code == HPE_INVALID_VERSION)
		request_refuse(req, 505, "this server speaks HTTP/1.1");
	else
		request_refuse(req, 400,
			       reason && *reason ? reason : "not HTTP");
	return PARSE_REFUSED;
}

/* --- non-ASCII bytes in a query ------------------------------------------
 *
 * No URI contains them, and yet clients send them, since nginx and others
 * accept them.  No server takes them for the end of a part of a request, so
 * they are accepted in a query; llhttp, which refuses them, is given a letter
 * in place of each.
 */

struct masked {
	uint32_t from; /* from the start of the request */
	struct buf bytes;
};

static bool is_ascii(char c)
{
	return (unsigned char)c < 0x80;
}

/* Returns true if this byte of the request is in the query of its first
 * line. */
static bool is_in_query(const struct http_request *req, const char *at)
{
	const char *line = request_base(req), *target;
	size_t len = (size_t)(at - line);

	if (memchr(line, '\n', len))
		return false;
	target = memchr(line, ' ', len);
	if (!target)
		return false;
	target++;
	len = (size_t)(at - target);
	return memchr(target, '?', len) && !memchr(target, ' ', len);
}

static const char *find_unusual(const char *at, const char *end)
{
	while (at < end && is_ascii(*at))
		at++;
	return at;
}

/* Masks the bytes from `from` on, which are new.  If out of memory, they stay
 * as they are, and the request is refused. */
static void mask_query(struct http_request *req, size_t from,
		       struct masked *ret_masked)
{
	char *first = req->in.data + from, *at;
	char *end = req->in.data + req->in.len;
	char *line_end = memchr(first, '\n', (size_t)(end - first));

	*ret_masked = (struct masked){0};
	if (req->headers_done)
		return;
	if (line_end)
		end = line_end;
	at = first + (find_unusual(first, end) - first);
	if (at == end || !is_in_query(req, at))
		return;
	ret_masked->from = end_of(req, at, 0);
	for (first = at; at < end && *at != ' ' && *at != '\r';)
		at++;
	buf_append(&ret_masked->bytes, first, (size_t)(at - first));
	for (end = at, at = first; at < end && !ret_masked->bytes.failed; at++)
		if (!is_ascii(*at))
			*at = 'x';
}

static void unmask_query(struct http_request *req, struct masked *masked)
{
	char *to = req->in.data + req->start + masked->from;

	if (masked->bytes.len && !masked->bytes.failed)
		memcpy(to, masked->bytes.data, masked->bytes.len);
	buf_free(&masked->bytes);
}

enum parse_result parse_request(struct http_request *req)
{
	struct masked masked;
	llhttp_errno_t code;
	size_t from, fed;
	char before;

	if (!req->begun) {
		if (!skip_empty_lines(req))
			return PARSE_MORE;
		if (!req->conn->listener->choose && scan_request(req))
			return parse_target(req) < 0 ? PARSE_REFUSED
						     : PARSE_COMPLETE;
		if (start_parser(req) < 0)
			return PARSE_REFUSED;
	}
	from = req->parsed;
	fed = req->in.len - from;
	before = req->last;
	req->last = req->in.data[req->in.len - 1];
	mask_query(req, from, &masked);
	code = llhttp_execute(&req->parser, req->in.data + from, fed);
	unmask_query(req, &masked);
	if (code == HPE_OK)
		return keep_partial_request(req, fed);
	if (code == HPE_PAUSED && !req->refusal)
		return req->chosen || req->unadmitted
			       ? headers_complete(req)
			       : complete_request(req, from, before);
	return refuse_parse_error(req, code);
}

void parse_admitted(struct http_request *req)
{
	req->unadmitted = false;
	llhttp_resume(&req->parser);
}

enum parse_result parse_body(struct http_request *req)
{
	size_t from = req->parsed, fed = req->in.len - from;
	char before = req->last;
	llhttp_errno_t code;

	if (fed > 0)
		req->last = req->in.data[req->in.len - 1];
	code = llhttp_execute(&req->parser, req->in.data + from, fed);
	if (code == HPE_PAUSED && !req->refusal)
		return complete_request(req, from, before);
	if (code != HPE_OK)
		return refuse_parse_error(req, code);
	if (take_trailer(req, from, req->in.len) < 0)
		return PARSE_REFUSED;
	req->in.len = req->start + req->body + req->body_len;
	req->parsed = req->in.len;
	return PARSE_MORE;
}

void parse_next(struct http_request *req)
{
	req->start = req->parsed;
	if (req->start == req->in.len)
		req->start = req->parsed = req->in.len = 0;
	req->begun = req->headers_done = req->header_open = false;
	req->expects = req->chosen = req->unadmitted = false;
	req->trailing = false;
	req->trailer_from = req->trailer_len = 0;
	req->url = req->url_len = req->header_len = req->header_count = 0;
	req->authority_len = 0;
	req->body = req->body_len = 0;
	req->body_bytes = 0;
	req->on_gone = NULL;
	req->last = '\0';
}
