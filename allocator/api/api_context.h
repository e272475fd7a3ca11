/*
 * api_context.h - the data that the handlers of the API work with.
 */
#ifndef ALLOCATOR_API_API_CONTEXT_H
#define ALLOCATOR_API_API_CONTEXT_H

#include "allocator/audit/audit.h"
#include "allocator/batch/batch.h"
#include "allocator/change/link_changer.h"
#include "allocator/create/creation.h"
#include "allocator/filter/archive_reader.h"
#include "allocator/ledger/ledger_watch.h"
#include "common/http/http_server.h"
#include "common/keys/api_keyring.h"
#include "common/loop/workers.h"

/* Shared by the APIs of all threads. */
struct api_metrics {
	struct link_finding_metrics reads;
	struct change_metrics changes;
};

/* The API of one thread.  Everything that it points to outlives it. */
struct api_context {
	struct api_keyring *keys;
	const struct link_defaults *defaults;
	const struct api_metrics *metrics;
	struct creation_context creation; /* this thread's */
	struct batches batches;		  /* this thread's */
	struct ledger_watch *ledger;
	struct loop *loop;		/* this thread's */
	struct workers *painters;	/* threads for long work: pictures */
	struct archive_reader *archive; /* NULL: the program ends */
	const struct buf *openapi;	/* the description of the API */
	const struct setting_strings *cors_origins;
	struct audit *audit;	      /* NULL: none */
	struct buf answer;	      /* this thread's buffer for one answer */
	struct link_changer *changer; /* this thread's */
};

/* A request as its handler receives it.  `caller` is valid during the call. */
struct api_call {
	struct api_context *api;
	struct http_request *req;
	const struct api_key_info *caller;
	struct http_slice name; /* the part of the path that {} matches */
};

#endif
