/*
 * scan.h - the usual request in one pass.
 *
 * Nearly all that a server of short links is sent is a GET or HEAD of a plain
 * target, whole in one read, with no body and with headers that say nothing of
 * how the connection goes on.  Such a request is read here; every other one is
 * left to llhttp and check.c, as if this had not been tried.  So what is taken
 * here is a subset of what they take, read alike: the fuzz target of HTTP
 * compares both.
 */
#ifndef COMMON_HTTP_SCAN_H
#define COMMON_HTTP_SCAN_H

#include <stdbool.h>

#include "common/http/types.h"

/*
 * True: the request at `start` is complete and all of it is set, but for path
 * and query.  False: it is for the parser; nothing is set that a request begun
 * anew does not set again.
 */
bool scan_request(struct http_request *req);

#endif
