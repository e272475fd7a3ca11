/*
 * server.h - the threads of the redirector, each with a loop, a listener and a
 * connection to Redis of its own.  What is done with a request is up to the
 * handler.
 */
#ifndef REDIRECTOR_SERVER_H
#define REDIRECTOR_SERVER_H

#include <stdint.h>

#include "common/error.h"
#include "common/http/http_server.h"
#include "common/loop/loop.h"
#include "common/redis/redis_async.h"
#include "redirector/lookup_health.h"
#include "redirector/redirector.h"
#include "redirector/replica.h"
#include "redirector/sockets.h"

/* The part of a server that its handler may use, on the server's thread. */
struct server_context {
	struct redirector *redirector;
	unsigned number; /* from 0 on */
	struct loop *loop;
	struct redis_async *redis;
	struct replica *replica; /* to look links up in; NULL: none */
};

struct request_handler {
	/* Makes the state of one server.  `context` outlives it. */
	void *(*create)(const struct server_context *context,
			struct error *err);
	/* After the context's redis was freed, which ends what was in flight.
	 * NULL accepted. */
	void (*destroy)(void *state);
	http_handler *on_request;	  /* `arg` is the state */
	void (*on_turn_end)(void *state); /* of the loop */
	/* The connection to Redis has ended; the next may be to another. */
	void (*on_redis_lost)(void *state);
	/* A connection is new. */
	void (*on_connected)(void *state, enum lookup_server to);
};

struct servers;

/* Makes one per thread, with those sockets, which must outlive them; nothing is
 * accepted yet. */
struct servers *servers_new(struct redirector *r, struct sockets *sockets,
			    const struct request_handler *handler,
			    struct error *err);

/* The threads run, and connect to Redis. */
int servers_start(struct servers *all, struct error *err);

/* They accept; whoever waits at sockets of a former configuration is answered,
 * too, and those are closed. */
int servers_open(struct servers *all, struct error *err);

/* Stops accepting, finishes the requests that have begun, for at most
 * `timeout_ms`, and ends the threads. */
void servers_drain(struct servers *all, int64_t timeout_ms);

/* Goes on accepting, and closes connections once they have been answered; waits
 * until those are gone that were there, for at most `timeout_ms`. */
void servers_wind_down(struct servers *all, int64_t timeout_ms);

/* They accept no more, and nothing of theirs uses the sockets: those may be
 * freed.  -1: a thread has stopped.  servers_leave follows. */
int servers_stop_accepting(struct servers *all, struct error *err);

/* Leaves the sockets to others that have them as well, answers those who are
 * connected once more, for at most `timeout_ms`, and ends the threads. */
void servers_leave(struct servers *all, int64_t timeout_ms);

/* Ends the threads, if need be at once.  NULL accepted. */
void servers_free(struct servers *all);

#endif
