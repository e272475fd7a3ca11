/*
 * reply.h - sends the answers of the API and the files of the dashboard, with
 * their headers.  Called on the request's loop.
 */
#ifndef AGGREGATOR_API_REPLY_H
#define AGGREGATOR_API_REPLY_H

#include "aggregator/api/call.h"
#include "common/buf.h"
#include "common/http/encoding.h"
#include "common/http/http_server.h"

/* Sends a body, or a 304 if the request names its ETag.  `body` is encoded
 * already; `etag` is that of the identity.  `call` is NULL for a file. */
void reply_encoded_body(struct http_request *req, const char *type,
			const char *etag, const struct call *call,
			enum encoding encoding, const struct buf *body);

/* Sends the answer to a change, or one that is given once: it has no ETag. */
void reply_once(struct http_request *req, const struct call *call);

#endif
