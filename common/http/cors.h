/*
 * cors.h - which pages of other origins may read answers in a browser, by the
 * CORS protocol of the Fetch standard.
 *
 * `origins` is the setting: empty, the only item "*", or a list.  Answers never
 * allow credentials that a browser sends by itself; scripts send keys.
 */
#ifndef COMMON_HTTP_CORS_H
#define COMMON_HTTP_CORS_H

#include <stdbool.h>

#include "common/buf.h"
#include "common/config/setting.h"
#include "common/error.h"
#include "common/http/request.h"

struct cors {
	const struct setting_strings *origins;
	/* Lists for preflights, of requests; and of what a script may read. */
	const char *methods, *headers, *exposed;
};

/* ERROR_CONFIG names an item that no browser sends as its origin; `setting` is
 * the name of the list. */
int cors_check(const struct setting_strings *origins, const char *setting,
	       struct error *err);

/* Returns the value of Access-Control-Allow-Origin for that origin; NULL: the
 * header is left out.  The value is an item of `origins`, never text of a
 * client. */
const char *cors_allowed(const struct setting_strings *origins,
			 struct http_slice origin);

/* Appends the CORS header lines, which every answer to `req` has. */
void cors_put_fields(const struct cors *cors, const struct http_request *req,
		     struct buf *lines);

/* Answers a preflight of an allowed page.  Returns false if `req` is none. */
bool cors_preflight(const struct cors *cors, struct http_request *req);

#endif
