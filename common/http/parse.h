/* parse.h - parses bytes to a request, with llhttp. */
#ifndef COMMON_HTTP_PARSE_H
#define COMMON_HTTP_PARSE_H

#include <stdbool.h>

#include "common/http/types.h"

enum parse_result {
	PARSE_MORE,
	PARSE_COMPLETE,
	PARSE_HEADERS, /* headers are done; it is to be streamed or admitted */
	PARSE_REFUSED  /* refusal and refusal_detail are set */
};
enum parse_result parse_request(struct http_request *req);
/* Does the same for what follows the headers of a streamed request. */
enum parse_result parse_body(struct http_request *req);
/* Sets path and query. */
int parse_target(struct http_request *req);
/* Lets the body be read before which parse_request has stopped. */
void parse_admitted(struct http_request *req);
/* Returns true if the request is known to be too long. */
bool parse_is_too_long(const struct http_request *req);
/* Drops the request at `start` and continues with the next. */
void parse_next(struct http_request *req);

#endif
