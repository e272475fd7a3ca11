#include "common/http/request.h"

#include <string.h>
#include <strings.h>

#include "common/http/types.h"

static struct http_slice slice_at(const struct http_request *req, size_t pos,
				  size_t len)
{
	return (struct http_slice){req->in.data + req->start + pos, len};
}

struct http_slice http_method(const struct http_request *req)
{
	return slice_at(req, 0, req->url - 1);
}

bool http_method_is(const struct http_request *req, const char *method)
{
	return http_slice_is(http_method(req), method);
}

struct http_slice http_path(const struct http_request *req)
{
	return req->path;
}

struct http_slice http_query(const struct http_request *req)
{
	return req->query;
}

struct http_slice http_body(const struct http_request *req)
{
	return slice_at(req, req->body, req->body_len);
}

struct http_slice http_header_get(const struct http_request *req,
				  const char *name)
{
	size_t len = strlen(name);
	const struct header_ref *h;
	uint32_t i;

	for (i = 0; i < req->header_count; i++) {
		h = &req->headers[i];
		if (h->name_len == len &&
		    strncasecmp(slice_at(req, h->name, 0).data, name, len) == 0)
			return slice_at(req, h->value, h->value_len);
	}
	return (struct http_slice){NULL, 0};
}

struct http_slice http_host(const struct http_request *req)
{
	if (req->authority_len)
		return slice_at(req, req->authority, req->authority_len);
	return http_header_get(req, "Host");
}

bool http_type_is(const struct http_request *req, const char *type)
{
	struct http_slice sent = http_header_get(req, "Content-Type");
	const char *end = sent.len ? memchr(sent.data, ';', sent.len) : NULL;

	if (end)
		sent.len = (size_t)(end - sent.data);
	while (sent.len && (sent.data[sent.len - 1] == ' ' ||
			    sent.data[sent.len - 1] == '\t'))
		sent.len--;
	return http_slice_is_nocase(sent, type);
}

size_t http_header_count(const struct http_request *req)
{
	return req->header_count;
}

struct http_header http_header_at(const struct http_request *req, size_t i)
{
	const struct header_ref *h = &req->headers[i];

	return (struct http_header){
		.name = slice_at(req, h->name, h->name_len),
		.value = slice_at(req, h->value, h->value_len),
	};
}

/* Cuts "name=value" off the front of a Cookie header. */
static struct http_slice next_pair(struct http_slice *rest)
{
	struct http_slice pair;
	const char *end;

	while (rest->len > 0 && (*rest->data == ' ' || *rest->data == ';')) {
		rest->data++;
		rest->len--;
	}
	end = rest->len > 0 ? memchr(rest->data, ';', rest->len) : NULL;
	pair = (struct http_slice){rest->data, end ? (size_t)(end - rest->data)
						   : rest->len};
	rest->data += pair.len;
	rest->len -= pair.len;
	return pair;
}

static struct http_slice find_cookie(struct http_slice header, const char *name)
{
	size_t len = strlen(name);
	struct http_slice pair, value;

	while ((pair = next_pair(&header)).len > 0) {
		if (pair.len <= len || pair.data[len] != '=' ||
		    memcmp(pair.data, name, len) != 0)
			continue;
		value = (struct http_slice){pair.data + len + 1,
					    pair.len - len - 1};
		while (value.len > 0 && value.data[value.len - 1] == ' ')
			value.len--;
		if (value.len >= 2 && value.data[0] == '"' &&
		    value.data[value.len - 1] == '"')
			value = (struct http_slice){value.data + 1,
						    value.len - 2};
		return value;
	}
	return (struct http_slice){NULL, 0};
}

bool http_header_next(const struct http_request *req, const char *name,
		      size_t *at, struct http_slice *ret)
{
	while (*at < req->header_count) {
		struct http_header header = http_header_at(req, (*at)++);

		if (!http_slice_is_nocase(header.name, name))
			continue;
		*ret = header.value;
		return true;
	}
	return false;
}

struct http_slice http_cookie_get(const struct http_request *req,
				  const char *name)
{
	struct http_slice value = {NULL, 0}, line;
	size_t at = 0;

	while (!value.data && http_header_next(req, "cookie", &at, &line))
		value = find_cookie(line, name);
	return value;
}

const struct sockaddr_storage *http_peer(const struct http_request *req)
{
	return &req->conn->peer;
}

unsigned http_minor_version(const struct http_request *req)
{
	return req->parser.http_minor;
}

void http_on_client_gone(struct http_request *req, void (*fn)(void *arg),
			 void *arg)
{
	req->on_gone = fn;
	req->gone_arg = arg;
}

bool http_slice_is(struct http_slice slice, const char *text)
{
	return strlen(text) == slice.len &&
	       (slice.len == 0 || memcmp(slice.data, text, slice.len) == 0);
}

bool http_slice_is_nocase(struct http_slice slice, const char *text)
{
	return strlen(text) == slice.len &&
	       (slice.len == 0 ||
		strncasecmp(slice.data, text, slice.len) == 0);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

struct http_slice http_slice_trim(struct http_slice slice)
{
	while (slice.len && is_space(*slice.data)) {
		slice.data++;
		slice.len--;
	}
	while (slice.len && is_space(slice.data[slice.len - 1]))
		slice.len--;
	return slice;
}

struct http_slice http_slice_cut(struct http_slice *rest, char separator)
{
	const char *end =
		rest->len ? memchr(rest->data, separator, rest->len) : NULL;
	size_t len = end ? (size_t)(end - rest->data) : rest->len;
	struct http_slice part = {rest->data, len};

	rest->data += end ? len + 1 : len;
	rest->len -= end ? len + 1 : len;
	return http_slice_trim(part);
}
