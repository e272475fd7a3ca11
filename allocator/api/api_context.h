/*
 * api_context.h - what the handlers of the API work with.
 */
#ifndef ALLOCATOR_API_API_CONTEXT_H
#define ALLOCATOR_API_API_CONTEXT_H

#include "allocator/audit/audit.h"
#include "allocator/batch/batch.h"
#include "allocator/create/creation.h"
#include "allocator/ledger/ledger_watch.h"
#include "common/http/http_server.h"
#include "common/keys/api_keyring.h"
#include "common/loop/workers.h"

struct change;

/* Shared by the APIs of all threads. */
struct api_metrics {
	/* reads and changes, by outcome */
	struct metric *found, *unknown, *gone, *read_failed;
	struct metric *changed, *deleted, *change_conflicts;
	struct metric *change_unsure; /* it is not known whether it was made */
};

/* The API of one thread; all that it points to outlives it. */
struct api_context {
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
	/* Of change_link.c: the changes whose answer was lost, and when they
	 * are sent again (NULL: they are not). */
	struct change *unsure;
	struct loop_timer *resend_timer;
};

/* A request on its way to its handler.  `caller` is valid during the call. */
struct api_call {
	struct api_context *api;
	struct http_request *req;
	const struct api_key_info *caller;
	struct http_slice name; /* what {} stands for in the route */
};

#endif
