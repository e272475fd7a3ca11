#include "common/http/cors.h"

#include <stdlib.h>
#include <string.h>

#include "common/http/reply.h"

#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

/* --- the setting ------------------------------------------------------------
 */

static bool is_everyone(const struct setting_strings *origins)
{
	return origins->count == 1 && !strcmp(origins->items[0], "*");
}

/* The part after the host: empty, or a port that is not the scheme's own, which
 * browsers leave out. */
static bool is_port(const char *text, const char *own)
{
	size_t len;

	if (!*text)
		return true;
	if (*text++ != ':')
		return false;
	len = strspn(text, DIGITS);
	return len >= 1 && len <= 5 && !text[len] && *text != '0' &&
	       strtol(text, NULL, 10) <= 65535 && strcmp(text, own) != 0;
}

/* An origin as a browser writes it: scheme://host[:port], in lower case. */
static bool is_origin(const char *text)
{
	size_t scheme = strspn(text, LOWER DIGITS "+.-"), host;
	const char *own = "", *rest = text + scheme;

	if (!scheme || !strchr(LOWER, *text) || strncmp(rest, "://", 3) != 0)
		return false;
	if (!strncmp(text, "http://", 7))
		own = "80";
	else if (!strncmp(text, "https://", 8))
		own = "443";
	rest += 3;
	if (*rest == '[') {
		host = strspn(rest + 1, DIGITS "abcdef:.");
		return host && rest[host + 1] == ']' &&
		       is_port(rest + host + 2, own);
	}
	host = strspn(rest, LOWER DIGITS "._-");
	return host && is_port(rest + host, own);
}

int cors_check(const struct setting_strings *origins, const char *setting,
	       struct error *err)
{
	if (is_everyone(origins))
		return 0;
	for (size_t i = 0; i < origins->count; i++) {
		const char *item = origins->items[i];

		if (!strcmp(item, "*"))
			return error_set(err, ERROR_CONFIG,
					 "%s: * is every origin and stands "
					 "alone",
					 setting);
		if (!is_origin(item))
			return error_set(
				err, ERROR_CONFIG,
				"%s: %s is no origin: "
				"expected one as browsers write it, such as "
				"https://a.example or http://a.example:8080, "
				"in lower case, without a path and without "
				"the scheme's own port",
				setting, item);
	}
	return 0;
}

/* --- answers ----------------------------------------------------------------
 */

const char *cors_allowed(const struct setting_strings *origins,
			 struct http_slice origin)
{
	if (is_everyone(origins))
		return origins->items[0];
	for (size_t i = 0; i < origins->count; i++) {
		if (http_slice_is(origin, origins->items[i]))
			return origins->items[i];
	}
	return NULL;
}

void cors_put_fields(const struct cors *cors, const struct http_request *req,
		     struct buf *lines)
{
	const struct setting_strings *origins = cors->origins;
	const char *allowed =
		cors_allowed(origins, http_header_get(req, "Origin"));

	/* The line is there also if the origin is not allowed or not given: a
	 * cache must not give that answer to a page of an allowed origin. */
	if (origins->count && !is_everyone(origins))
		buf_puts(lines, "Vary: Origin\r\n");
	if (!allowed)
		return;
	buf_puts(lines, "Access-Control-Allow-Origin: ");
	buf_puts(lines, allowed);
	buf_puts(lines, "\r\nAccess-Control-Expose-Headers: ");
	buf_puts(lines, cors->exposed);
	buf_puts(lines, "\r\n");
}

bool cors_preflight(const struct cors *cors, struct http_request *req)
{
	const struct http_field fields[] = {
		{"Access-Control-Allow-Methods", cors->methods},
		{"Access-Control-Allow-Headers", cors->headers},
		{"Access-Control-Max-Age", "3600"},
		{NULL, NULL}};
	struct http_slice origin = http_header_get(req, "Origin");

	if (!http_method_is(req, "OPTIONS") || !origin.data ||
	    !http_header_get(req, "Access-Control-Request-Method").data ||
	    !cors_allowed(cors->origins, origin))
		return false;
	http_reply(req, 204, fields, NULL, 0);
	return true;
}
