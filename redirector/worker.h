/*
 * worker.h - the threads of the redirector, each with a loop, a listener and a
 * connection to Redis of its own.  What is done with a request is up to the
 * handler.
 */
#ifndef REDIRECTOR_WORKER_H
#define REDIRECTOR_WORKER_H

#include <stdint.h>

#include "common/error.h"
#include "common/http/http_server.h"
#include "common/loop/loop.h"
#include "common/redis/redis_async.h"
#include "redirector/redirector.h"

/* What of a worker its handler may use, on the worker's thread. */
struct worker_context {
	struct redirector *redirector;
	unsigned number; /* from 0 on */
	struct loop *loop;
	struct redis_async *redis;
};

struct request_handler {
	/* Makes the state of one worker.  `context` outlives it. */
	void *(*create)(const struct worker_context *context,
			struct error *err);
	/* After the context's redis was freed, which ends what was in flight.
	 * NULL accepted. */
	void (*destroy)(void *state);
	http_handler *on_request;	  /* `arg` is the state */
	void (*on_turn_end)(void *state); /* of the loop */
};

struct workers;

/* Makes one per thread and binds the port; nothing is answered yet. */
struct workers *workers_new(struct redirector *r,
			    const struct request_handler *handler,
			    struct error *err);

int workers_start(struct workers *workers, struct error *err);

/* Stops accepting, finishes the requests that have begun, for at most
 * `timeout_ms`, and ends the threads. */
void workers_drain(struct workers *workers, int64_t timeout_ms);

/* Ends the threads, if need be at once.  NULL accepted. */
void workers_free(struct workers *workers);

#endif
