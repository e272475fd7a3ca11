/* request_pool.h - unused requests of a listener, kept for the next connection
 * that needs one. */
#ifndef COMMON_HTTP_REQUEST_POOL_H
#define COMMON_HTTP_REQUEST_POOL_H

#include "common/http/types.h"

/* NULL: out of memory. */
struct http_request *request_pool_take(struct http_listener *l);
void request_pool_give_back(struct http_listener *l, struct http_request *req);
/* Frees a request whose listener is gone. */
void request_pool_free(struct http_request *req);

#endif
