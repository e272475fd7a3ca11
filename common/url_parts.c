#include "common/url_parts.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/unseen.h"
#include "common/uri.h"
#include "common/utf8.h"

/* Writes the character at `text` as "%E2%80%AE". */
static void escape_character(const char *text, size_t len, char ret[13])
{
	size_t bytes = utf8_sequence(text, len);

	for (size_t i = 0; i < bytes; i++)
		snprintf(ret + 3 * i, 4, "%%%02X", (unsigned char)text[i]);
}

/* Refuses blanks, control characters and invisible characters. */
static int check_characters(const char *url, size_t len, struct error *err)
{
	enum unseen kind;
	size_t at = unseen_find(url, len, UNSEEN_IN_URL, &kind);
	char escaped[13] = "";

	if (kind == UNSEEN_NONE)
		return 0;
	if (kind == UNSEEN_INVALID)
		return error_set(err, ERROR_INPUT,
				 "is not UTF-8 at byte %zu: write other bytes "
				 "with percent signs",
				 at + 1);
	escape_character(url + at, len - at, escaped);
	return error_set(err, ERROR_INPUT,
			 "has a blank, a control character or an invisible "
			 "character at byte %zu: write it as %s",
			 at + 1, escaped);
}

/* Returns the start of the query or fragment, or the end. */
static const char *find_query(const char *text, const char *end)
{
	while (text < end && *text != '?' && *text != '#')
		text++;
	return text;
}

/* ":" and ":0080" count as ports. */
static int read_port(struct url_parts *parts, const char *text, size_t len,
		     struct error *err)
{
	uint32_t port = 0;

	if (len <= 1)
		return 0;
	parts->port = (struct url_slice){text, len};
	for (size_t i = 1; i < len && port <= 65535; i++) {
		if (text[i] < '0' || text[i] > '9')
			port = UINT16_MAX + 1;
		else
			port = 10 * port + (uint32_t)(text[i] - '0');
	}
	if (port >= 1 && port <= 65535)
		return 0;
	return error_set(err, ERROR_INPUT,
			 "the port is not a number from 1 to 65535");
}

static int read_authority(struct url_parts *parts, const char *text,
			  const char *end, struct error *err)
{
	const char *at = memchr(text, '@', (size_t)(end - text));
	size_t len;

	if (at) {
		at++;
		parts->user = (struct url_slice){text, (size_t)(at - text)};
		text = at;
		if (memchr(text, '@', (size_t)(end - text)))
			return error_set(err, ERROR_INPUT,
					 "has more than one '@' before the "
					 "path: write the others as %%40");
	}
	len = host_length(text, (size_t)(end - text));
	if (host_parse(text, len, &parts->host, err) < 0)
		return -1;
	text += len;
	if (text < end && *text != ':')
		return error_set(err, ERROR_INPUT,
				 "has something between host and path that is "
				 "not a port");
	return read_port(parts, text, (size_t)(end - text), err);
}

/* Browsers take a backslash for a slash until the query begins. */
static int read_web(struct url_parts *parts, const char *text, const char *end,
		    struct error *err)
{
	const char *query = find_query(text, end), *path;

	if (end - text < 3 || memcmp(text, "//", 2) != 0 || text[2] == '/' ||
	    text[2] == '\\')
		return error_set(err, ERROR_INPUT,
				 "must begin with %s:// and a host",
				 parts->scheme);
	if (memchr(text, '\\', (size_t)(query - text)))
		return error_set(err, ERROR_INPUT,
				 "has a backslash before the query: write it "
				 "as / or %%5C");
	text += 2;
	path = memchr(text, '/', (size_t)(query - text));
	if (!path)
		path = query;
	parts->rest = (struct url_slice){path, (size_t)(end - path)};
	return read_authority(parts, text, path, err);
}

int url_parts_read(struct url_parts *parts, const char *url, size_t len,
		   struct error *err)
{
	const char *end = url + len, *text;

	if (check_characters(url, len, err) < 0)
		return -1;
	if (!url_scheme(url, len, parts->scheme))
		return error_set(err, ERROR_INPUT,
				 "is not an absolute URL: it must begin with "
				 "http:// or https:// and a host");
	parts->user = parts->port = (struct url_slice){0};
	parts->is_web = url_scheme_is_web(parts->scheme);
	text = url + strlen(parts->scheme) + 1;
	parts->rest = (struct url_slice){text, (size_t)(end - text)};
	return parts->is_web ? read_web(parts, text, end, err) : 0;
}

/* Writes the URL before characters are percent-encoded. */
static void write_plain(const struct url_parts *parts, struct buf *out)
{
	buf_puts(out, parts->scheme);
	buf_putc(out, ':');
	if (parts->is_web) {
		buf_append(out, "//", 2);
		buf_append(out, parts->user.data, parts->user.len);
		buf_append(out, parts->host.text, parts->host.len);
		buf_append(out, parts->port.data, parts->port.len);
	}
	buf_append(out, parts->rest.data, parts->rest.len);
}

void url_parts_put_normal(const struct url_parts *parts, struct buf *out)
{
	struct buf plain = {0};

	write_plain(parts, &plain);
	if (!plain.failed)
		uri_put(out, plain.data, plain.len);
	out->failed |= plain.failed;
	buf_free(&plain);
}
