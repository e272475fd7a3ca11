/* me.h - GET /v1/me: the caller's key, and what it may do. */
#ifndef AGGREGATOR_API_ME_H
#define AGGREGATOR_API_ME_H

#include "aggregator/api/access.h"
#include "common/http/http_server.h"
#include "common/keys/api_keyring.h"

/* Answers the request at once, without ClickHouse.  A key of any role may ask,
 * at the price of one request.  `keys` NULL: there is no file of keys. */
void me_handle(struct api_keyring *keys, struct http_request *req);

/* Answers a request whose share was admitted. */
void me_reply_share(struct http_request *req, const struct access *access);

#endif
