/*
 * api.h - the HTTP API of one thread: who may do what, and what is answered.
 *
 * GET/HEAD /v1/links/{code}, POST /v1/links and /v1/links/batch.  Everything
 * else gets a problem+json answer (RFC 9457) that says what to do.
 */
#ifndef ALLOCATOR_API_API_H
#define ALLOCATOR_API_API_H

#include "allocator/audit/audit.h"
#include "allocator/batch/batch.h"
#include "allocator/create/creation.h"
#include "allocator/keys/api_keyring.h"
#include "allocator/ledger/ledger_watch.h"
#include "common/http/http_server.h"
#include "common/loop/workers.h"

/* Shared by the APIs of all threads. */
struct api_metrics {
	/* reads and changes, by outcome */
	struct metric *found, *unknown, *gone, *read_failed;
	struct metric *changed, *deleted, *change_conflicts;
};
void api_metrics_register(struct api_metrics *am, struct metrics *m);

/* What the API works with; all of it outlives it. */
struct api_parts {
	struct api_keyring *keys;
	const struct link_defaults *defaults;
	const struct api_metrics *metrics;
	struct creation_context creation; /* of this thread */
	struct batches batches;		  /* of this thread */
	struct ledger_watch *ledger;
	struct loop *loop;	   /* of this thread */
	struct workers *painters;  /* what takes long is done there: pictures */
	const struct buf *openapi; /* the description of the API */
	struct audit *audit;	   /* NULL: none */
	struct buf answer;	   /* of this thread: room for one answer */
};

/* The http_handler; `arg` is a struct api_parts. */
void api_handle(struct http_request *req, void *arg);

/* The http_stream_choose that goes with it: batches are streamed. */
bool api_streams(const struct http_request *req, void *arg);

/* And the http_admit: nothing is read from somebody who may not ask, nor more
 * than a link needs. */
bool api_admit(struct http_request *req, size_t *body_max, void *arg);

#endif
