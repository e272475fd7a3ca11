#include "common/uri.h"

#include <string.h>

#include "common/hex.h"
#include "common/host.h"
#include "common/url_scheme.h"

struct slice {
	const char *data;
	size_t len;
};

/* The parts of a URL; all but the scheme may be empty. */
struct parts {
	char scheme[URL_SCHEME_MAX]; /* lower case; "": none */
	struct slice before;	     /* the scheme unchanged, with its colon */
	bool has_authority;
	struct slice user; /* without its '@' */
	bool has_user;
	struct slice host, port; /* the port with its colon */
	struct slice rest;	 /* path, query and fragment */
};

/* Cuts `len` bytes off the front. */
static struct slice cut_front(struct slice *text, size_t len)
{
	struct slice front = {text->data, len};

	text->data += len;
	text->len -= len;
	return front;
}

/* Returns the number of bytes before the first of these. */
static size_t before_any(struct slice text, const char *ends)
{
	size_t len = 0;

	while (len < text.len &&
	       (!text.data[len] || !strchr(ends, text.data[len])))
		len++;
	return len;
}

static void read_authority(struct parts *p, struct slice text)
{
	const char *at = memrchr(text.data, '@', text.len);

	if (at) {
		p->has_user = true;
		p->user = cut_front(&text, (size_t)(at - text.data));
		cut_front(&text, 1);
	}
	p->host = cut_front(&text, host_length(text.data, text.len));
	p->port = text;
}

static void read_parts(struct parts *p, const char *url, size_t len)
{
	const struct slice none = {"", 0};
	struct slice text = {url, len};

	if (len == 0)
		text = none;
	*p = (struct parts){
		.before = none, .user = none, .host = none, .port = none};
	if (url_scheme(text.data, len, p->scheme))
		p->before = cut_front(&text, strlen(p->scheme) + 1);
	else
		p->scheme[0] = '\0';
	if (text.len >= 2 && !memcmp(text.data, "//", 2)) {
		p->has_authority = true;
		cut_front(&text, 2);
		read_authority(p, cut_front(&text, before_any(text, "/?#")));
	}
	p->rest = text;
}

static bool is_web(const struct parts *p)
{
	return p->has_authority &&
	       (!strcmp(p->scheme, "http") || !strcmp(p->scheme, "https"));
}

/* --- characters ----------------------------------------------------------- */

/* pchar, "/" and "?" (RFC 3986, 3.3 to 3.5). */
static const bool in_rest[256] = {
	['!'] = 1,	   ['$'] = 1, ['&' ... ';'] = 1, ['='] = 1,
	['?' ... 'Z'] = 1, ['_'] = 1, ['a' ... 'z'] = 1, ['~'] = 1,
};

/* unreserved, sub-delims and ":" (3.2.1): userinfo, and a reg-name with a
 * port. */
static const bool in_authority[256] = {
	['!'] = 1,	   ['$'] = 1,	      ['&' ... '.'] = 1,
	['0' ... ';'] = 1, ['='] = 1,	      ['A' ... 'Z'] = 1,
	['_'] = 1,	   ['a' ... 'z'] = 1, ['~'] = 1,
};

static bool is_escape(const char *text, size_t len)
{
	return len >= 3 && text[0] == '%' && hex_digit(text[1]) >= 0 &&
	       hex_digit(text[2]) >= 0;
}

static bool may_stay(struct slice text, size_t i, const bool plain[256])
{
	return plain[(unsigned char)text.data[i]] ||
	       is_escape(text.data + i, text.len - i);
}

static void put_percent_escaped(struct buf *out, struct slice text,
				const bool plain[256])
{
	size_t from = 0;

	if (text.len == 0)
		return;
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.data[i];
		const char escape[] = {'%', hex_upper(c >> 4),
				       hex_upper(c & 15)};

		if (may_stay(text, i, plain))
			continue;
		buf_append(out, text.data + from, i - from);
		buf_append(out, escape, sizeof(escape));
		from = i + 1;
	}
	buf_append(out, text.data + from, text.len - from);
}

void uri_put_part(struct buf *out, const char *text, size_t len)
{
	put_percent_escaped(out, (struct slice){text, len}, in_rest);
}

void uri_put_rest(struct buf *out, const char *text, size_t len)
{
	struct slice rest = {text, len};

	if (len == 0)
		return;
	put_percent_escaped(out, cut_front(&rest, before_any(rest, "#")),
			    in_rest);
	if (rest.len == 0)
		return;
	buf_putc(out, '#');
	cut_front(&rest, 1);
	put_percent_escaped(out, rest, in_rest);
}

/* --- the whole ------------------------------------------------------------ */

static bool is_reg_name(struct slice host)
{
	for (size_t i = 0; i < host.len; i++) {
		if (!may_stay(host, i, in_authority))
			return false;
	}
	return true;
}

/* Returns true for brackets around characters that an address may contain.
 * Whether it is a valid address is left to the resolver. */
static bool is_address(struct slice host)
{
	if (host.len < 2 || host.data[0] != '[' ||
	    host.data[host.len - 1] != ']')
		return false;
	for (size_t i = 1; i + 1 < host.len; i++) {
		char c = host.data[i];

		if (hex_digit(c) < 0 && c != ':' && c != '.')
			return false;
	}
	return true;
}

static void put_host(struct buf *out, const struct parts *p)
{
	struct error ignored;
	struct host host;

	if (is_reg_name(p->host) || is_address(p->host))
		buf_append(out, p->host.data, p->host.len);
	else if (is_web(p) &&
		 host_parse(p->host.data, p->host.len, &host, &ignored) == 0)
		buf_append(out, host.text, host.len);
	else
		put_percent_escaped(out, p->host, in_authority);
}

void uri_put(struct buf *out, const char *url, size_t len)
{
	struct parts p;

	read_parts(&p, url, len);
	buf_append(out, p.before.data, p.before.len);
	if (p.has_authority) {
		buf_append(out, "//", 2);
		put_percent_escaped(out, p.user, in_authority);
		if (p.has_user)
			buf_putc(out, '@');
		put_host(out, &p);
		put_percent_escaped(out, p.port, in_authority);
	}
	uri_put_rest(out, p.rest.data, p.rest.len);
}

/* --- predicates ----------------------------------------------------------- */

static bool has_gap(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f)
			return true;
	}
	return false;
}

/* Accepts "", ":" or ":8443". */
static bool is_port(struct slice port)
{
	unsigned number = 0;

	if (port.len <= 1)
		return true;
	for (size_t i = 1; i < port.len; i++) {
		if (port.data[i] < '0' || port.data[i] > '9' || number > 65535)
			return false;
		number = 10 * number + (unsigned)(port.data[i] - '0');
	}
	return number >= 1 && number <= 65535;
}

bool uri_is_web(const char *url, size_t len)
{
	struct error ignored;
	struct host host;
	struct parts p;

	if (has_gap(url, len))
		return false;
	read_parts(&p, url, len);
	return is_web(&p) &&
	       host_parse(p.host.data, p.host.len, &host, &ignored) == 0 &&
	       is_port(p.port);
}

bool uri_takes_path(const char *url, size_t len)
{
	struct slice path;
	struct parts p;

	read_parts(&p, url, len);
	path = cut_front(&p.rest, before_any(p.rest, "?#"));
	if (p.has_authority && p.host.len > 0)
		return true;
	if (path.len == 0 || path.data[0] != '/')
		return false;
	for (size_t i = 0; i < path.len; i++) {
		if (path.data[i] != '/')
			return true;
	}
	return false;
}
