/*
 * cors.h - which pages of other origins may read answers in a browser: the CORS
 * protocol of the Fetch standard.
 *
 * `origins` is the setting: none, the only item "*", or a list.  Answers never
 * allow credentials that a browser sends by itself; keys are sent by scripts.
 */
#ifndef AGGREGATOR_API_CORS_H
#define AGGREGATOR_API_CORS_H

#include <stdbool.h>

#include "common/buf.h"
#include "common/config/setting.h"
#include "common/error.h"
#include "common/http/request.h"

/* ERROR_CONFIG names an item that no browser would send as its origin. */
int cors_check(const struct setting_strings *origins, struct error *err);

/* What Access-Control-Allow-Origin says to that origin; NULL: it is not there.
 * An item of `origins`: nothing that a client wrote. */
const char *cors_allowed(const struct setting_strings *origins,
			 struct http_slice origin);

/* The header lines of every answer to `req`. */
void cors_put_fields(const struct setting_strings *origins,
		     const struct http_request *req, struct buf *lines);

/* Answers a preflight of a page that may ask.  False: it is none. */
bool cors_preflight(const struct setting_strings *origins,
		    struct http_request *req);

#endif
