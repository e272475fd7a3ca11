/*
 * scan.h - parses the usual request in one pass.
 *
 * Nearly every request to a server of short links is a GET or HEAD of a plain
 * target, whole in one read, with no body and with no header that affects the
 * connection.  Such a request is parsed here; every other one is left to llhttp
 * and check.c, as if this had not been tried.  So the requests accepted here
 * are a subset of what they accept, with the same result: the fuzz target of
 * HTTP compares both.
 */
#ifndef COMMON_HTTP_SCAN_H
#define COMMON_HTTP_SCAN_H

#include <stdbool.h>

#include "common/http/types.h"

/*
 * Returns true if the request at `start` is complete: all of it is set except
 * path and query.  Returns false if it is for the parser; anything already set
 * is set again by a new parse.
 */
bool scan_request(struct http_request *req);

#endif
