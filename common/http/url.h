/* url.h - percent-decoding and query strings. */
#ifndef COMMON_HTTP_URL_H
#define COMMON_HTTP_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "common/http/http_server.h"

/* One key of a query string, decoded and NUL-terminated. */
struct url_param {
	char *key;
	char *value; /* "" when there was no '=' */
};

struct url_params {
	struct url_param *items;
	size_t count;
};

/*
 * Splits "a=1&b=x%20y" ('+' is a space).  A bad escape, a NUL byte or more than
 * 64 parameters is ERROR_INPUT, which names the parameter if its value is the
 * mistake.  Free with url_params_free, also on failure.
 */
int url_params_parse(struct url_params *params, struct http_slice query,
		     struct error *err);
void url_params_free(struct url_params *params);

/* Returns the first value of that key, or NULL. */
const char *url_param_get(const struct url_params *params, const char *key);

/* Takes a character off the front of the text, which is not empty: %XX becomes
 * the byte that it encodes, and the '%' of a bad escape is plain. */
char url_take_decoded(struct http_slice *text);

#endif
