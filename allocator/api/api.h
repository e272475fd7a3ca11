/*
 * api.h - the HTTP API of one thread: checks the caller's role and dispatches
 * requests.
 *
 * A table maps a method and a path to a handler (handlers.h) and to the role
 * that it needs.  Every other request receives a problem+json answer (RFC 9457)
 * that says what to do.
 */
#ifndef ALLOCATOR_API_API_H
#define ALLOCATOR_API_API_H

#include <stdbool.h>

#include "allocator/api/api_context.h"
#include "common/buf.h"
#include "common/error.h"
#include "common/http/http_server.h"
#include "common/metrics/metrics.h"

void api_metrics_register(struct api_metrics *am, struct metrics *m);

/* `api` is filled before api_start and stays where it is until api_end.  Call
 * api_end when the loop no longer runs, and before Redis and the listener are
 * freed: it answers the requests that still wait for Redis. */
int api_start(struct api_context *api, struct error *err);
void api_end(struct api_context *api);
/* Call it after Redis was freed. */
void api_free(struct api_context *api);

/* Appends the description of the API (schemas/openapi/allocator.yaml) as
 * JSON. */
int api_write_openapi(struct buf *out, struct error *err);

/* An http_handler; `arg` is a struct api_context. */
void api_handle(struct http_request *req, void *arg);

/* The http_fields for api_handle: CORS. */
void api_put_fields(const struct http_request *req, struct buf *lines,
		    void *arg);

/* The http_stream_choose for api_handle: bodies of lines are streamed. */
bool api_streams(const struct http_request *req, void *arg);

/* The http_admit for api_handle: no body is read from a caller without
 * permission, nor more than a link needs. */
bool api_admit(struct http_request *req, size_t *body_max, void *arg);

#endif
