/*
 * server.h - the threads of the redirector, each with a loop, a listener and a
 * connection to Redis of its own.  The handler decides what is done with a
 * request.
 */
#ifndef REDIRECTOR_SERVER_H
#define REDIRECTOR_SERVER_H

#include <stdint.h>

#include "common/error.h"
#include "common/http/http_server.h"
#include "common/loop/loop.h"
#include "common/redis/redis_async.h"
#include "redirector/handover/sockets.h"
#include "redirector/lookup/lookup_health.h"
#include "redirector/lookup/replica.h"
#include "redirector/redirector.h"

/* The part of a server that its handler may use, on the server's thread. */
struct server_context {
	struct redirector *redirector;
	unsigned number; /* from 0 on */
	struct loop *loop;
	struct redis_async *redis;
	struct replica *replica; /* for look-ups; NULL: none */
};

struct request_handler {
	/* Makes the state of one server.  `context` outlives it. */
	void *(*create)(const struct server_context *context,
			struct error *err);
	/* Called after the context's redis was freed, which ends all queries
	 * under way.  NULL accepted. */
	void (*destroy)(void *state);
	http_handler *on_request;	  /* `arg` is the state */
	void (*on_turn_end)(void *state); /* at the end of a turn of the loop */
	/* The connection to Redis has ended; the next one may be to another
	 * Redis. */
	void (*on_redis_lost)(void *state);
	/* A new connection is ready. */
	void (*on_connected)(void *state, enum lookup_server to);
};

struct servers;

/* Makes one server per thread, with those sockets, which must outlive them; no
 * connection is accepted yet. */
struct servers *servers_new(struct redirector *r, struct sockets *sockets,
			    const struct request_handler *handler,
			    struct error *err);

/* Starts the threads, which connect to Redis. */
int servers_start(struct servers *all, struct error *err);

/* Makes the threads accept connections.  Clients that wait at sockets of a
 * former configuration are answered, too, and those sockets are closed. */
int servers_open(struct servers *all, struct error *err);

/* Stops accepting, finishes the requests that have begun, for at most
 * `timeout_ms`, and ends the threads. */
void servers_drain(struct servers *all, int64_t timeout_ms);

/* Goes on accepting, and closes connections once they have been answered; waits
 * until the connections that were there at the call are gone, for at most
 * `timeout_ms`. */
void servers_wind_down(struct servers *all, int64_t timeout_ms);

/* Stops accepting.  After it no thread uses the sockets, so they may be freed.
 * -1: a thread has stopped.  servers_leave follows. */
int servers_stop_accepting(struct servers *all, struct error *err);

/* Leaves the sockets to other processes that have them as well, answers
 * connected clients once more, for at most `timeout_ms`, and ends the
 * threads. */
void servers_leave(struct servers *all, int64_t timeout_ms);

/* Ends the threads, if need be at once.  NULL accepted. */
void servers_free(struct servers *all);

#endif
