/*
 * async_connection.h - the life of one event-driven connection: finding the
 * master, connecting with back-off, logging in, loading scripts, being up,
 * ending.  For redis_async.c.
 *
 * The server is asked for its role when the connection is made, every
 * ROLE_CHECK_MS from then on, and when it refuses to write; a replica is left,
 * and the master looked for.
 */
#ifndef COMMON_REDIS_ASYNC_CONNECTION_H
#define COMMON_REDIS_ASYNC_CONNECTION_H

#include "common/redis/async_adapter.h"
#include "common/redis/redis_async.h"
#include "common/redis/targets.h"

enum connection_state {
	CONNECTION_DOWN, /* ending, or waiting to connect again */
	CONNECTION_STARTING,
	CONNECTION_GREETING, /* connected; logs in, loads scripts */
	CONNECTION_UP,
};

struct async_connection {
	struct loop *loop;
	const struct redis_config *config;
	const struct redis_scripts *scripts; /* NULL: none */
	redis_state_fn *on_state;
	void *arg;
	enum connection_state state;
	struct redis_targets targets;
	size_t at;	 /* the target tried next, or being used */
	size_t failed;	 /* targets in a row that led nowhere */
	size_t loading;	 /* scripts sent whose sum is not back yet */
	bool of_replica; /* rather than of the master */
	bool asking;	 /* a sentinel, rather than the server */
	bool found;	 /* it has said where that is */
	size_t pick;	 /* which of the replicas that it knows */
	const char *where;
	struct redis_address server; /* as a sentinel said */
	char run_id[REDIS_RUN_ID_SIZE];
	struct loop_timer *role_timer; /* while it is up */
	int64_t role_asked;	       /* loop time; 0: answered */
	redisAsyncContext *context;
	struct async_adapter adapter;
	struct loop_timer *timer; /* back-off, then the connect timeout */
	int64_t backoff;
	struct error why; /* it is not up */
	char told[sizeof(((struct error *)0)->text)];
	bool closing;
};

/* `connection` is zeroed but for what it is of.  Starts connecting once the
 * loop runs; of a replica, with the first-th of those there are, or that a
 * sentinel knows; each try is another's then. */
int async_connection_open(struct async_connection *c, struct loop *loop,
			  const struct redis_config *config,
			  const struct redis_scripts *scripts, size_t first,
			  redis_state_fn *on_state, void *arg,
			  struct error *err);

/* Ends it for good.  Commands in flight get a NULL reply from within. */
void async_connection_close(struct async_connection *c);

/* Ends it for a reason of ours, and starts again after the back-off.  Commands
 * in flight get a NULL reply from within. */
void async_connection_give_up(struct async_connection *c, const char *why);

/* It refused to write: is it a replica by now?  From any callback. */
void async_connection_suspect(struct async_connection *c);

/* Ends it once what is in flight is answered, and starts again.  From any
 * callback. */
void async_connection_renew(struct async_connection *c, const char *why);

/* A command was answered with NULL: the connection is ending. */
void async_connection_ending(struct async_connection *c,
			     const redisAsyncContext *context);

#endif
