/*
 * api.h - the HTTP API of one thread: who may do what, and what is answered.
 *
 * A table says which handler (handlers.h) a method and a path have, and which
 * role it takes.  All else gets a problem+json answer (RFC 9457) that says what
 * to do.
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

/* `api` is filled and stays where it is; served in between.  The end comes once
 * the loop no longer runs and before Redis and the listener go: what still
 * waits for Redis is answered. */
int api_start(struct api_context *api, struct error *err);
void api_end(struct api_context *api);

/* Appends the description of the API (schemas/openapi/allocator.yaml) as
 * JSON. */
int api_write_openapi(struct buf *out, struct error *err);

/* The http_handler; `arg` is a struct api_context. */
void api_handle(struct http_request *req, void *arg);

/* The http_stream_choose that goes with it: batches are streamed. */
bool api_streams(const struct http_request *req, void *arg);

/* And the http_admit: nothing is read from somebody who may not ask, nor more
 * than a link needs. */
bool api_admit(struct http_request *req, size_t *body_max, void *arg);

#endif
