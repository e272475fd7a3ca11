/* parse.h - bytes to a request, with llhttp. */
#ifndef COMMON_HTTP_PARSE_H
#define COMMON_HTTP_PARSE_H

#include <stdbool.h>

#include "common/http/types.h"

enum parse_result {
	PARSE_MORE,
	PARSE_COMPLETE,
	PARSE_HEADERS, /* of a request that is to be streamed, or admitted */
	PARSE_REFUSED  /* refusal and refusal_detail are set */
};
enum parse_result parse_request(struct http_request *req);
/* The same for what follows the headers of a streamed request. */
enum parse_result parse_body(struct http_request *req);
/* Sets path and query. */
int parse_target(struct http_request *req);
/* The body that parse_request has stopped before may be read. */
void parse_admitted(struct http_request *req);
/* Is it known to be longer than it may be? */
bool parse_is_too_long(const struct http_request *req);
/* Forgets the request at `start` and goes on to what follows it. */
void parse_next(struct http_request *req);

#endif
