/*
 * api.h - the HTTP API of one thread: who may do what, and what is answered.
 *
 * GET/HEAD /v1/links/{code} and POST /v1/links.  Everything else gets a
 * problem+json answer (RFC 9457) that says what to do.
 */
#ifndef ALLOCATOR_API_API_H
#define ALLOCATOR_API_API_H

#include "allocator/api/link_request.h"
#include "allocator/keys/api_keys.h"
#include "allocator/link_events.h"
#include "allocator/space_watch.h"
#include "allocator/supply/supply.h"
#include "common/http/http_server.h"
#include "linkstore/block/create.h"

/* Shared by the APIs of all threads. */
struct api_metrics {
	/* creates, by outcome */
	struct metric *created, *invalid, *denied, *unavailable, *full;
	struct metric *create_seconds; /* of those that succeeded */
	struct metric *conflicts;      /* a live link under a fresh code */
	struct metric *retries;	       /* tries beyond a create's first */
	/* reads, by outcome */
	struct metric *found, *unknown, *gone, *read_failed;
};
void api_metrics_register(struct api_metrics *am, struct metrics *m);

/* What the API works with; all of it outlives it. */
struct api_parts {
	struct api_keyring *keys;
	struct link_defaults defaults;
	const char *base_url;
	const struct api_metrics *metrics;
	struct link_events *events;
	const struct space_watch *spaces;
	struct log *log;
	struct redis_async *redis;  /* of this thread */
	struct link_writer *writer; /* of this thread */
	struct supply *supply;	    /* of this thread */
	uint64_t *created;	    /* of this thread: links by space index */
	struct buf answer;	    /* of this thread: room for one answer */
};

/* The http_handler; `arg` is a struct api_parts. */
void api_handle(struct http_request *req, void *arg);

#endif
