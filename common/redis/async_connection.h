/*
 * async_connection.h - the life of one event-driven connection: finding the
 * master, connecting with back-off, logging in, loading scripts, being up,
 * ending.  For redis_async.c.
 *
 * The connection queries the server's role when it is made, every ROLE_CHECK_MS
 * from then on, and when the server refuses to write; a replica is left, and
 * the master searched for.
 */
#ifndef COMMON_REDIS_ASYNC_CONNECTION_H
#define COMMON_REDIS_ASYNC_CONNECTION_H

#include "common/redis/async_adapter.h"
#include "common/redis/redis_async.h"
#include "common/redis/targets.h"

enum connection_state {
	CONNECTION_DOWN, /* ending, or waiting to connect again */
	CONNECTION_STARTING,
	CONNECTION_GREETING, /* connected; logging in, loading scripts */
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
	size_t at;     /* the target tried next, or in use */
	size_t failed; /* consecutive targets that failed */
	/* Consecutive times that all targets failed, for the back-off. */
	unsigned rounds_failed;
	size_t loading;	 /* scripts sent whose SHA-1 has not come back yet */
	bool of_replica; /* connects to a replica, not the master */
	bool asking;	 /* connected to a sentinel, not the server */
	bool found;	 /* the sentinel has named the server */
	size_t pick;	 /* index into the replicas that it knows */
	const char *where;
	struct redis_address server; /* as named by a sentinel */
	char run_id[REDIS_RUN_ID_SIZE];
	bool slots_apart; /* redis_info_keeps_slots_apart of the server */
	struct loop_timer *role_timer; /* runs while it is up */
	int64_t role_asked; /* loop time of a pending query; 0: none */
	redisAsyncContext *context;
	struct async_adapter adapter;
	struct loop_timer *timer; /* back-off, then the connect timeout */
	struct error why;	  /* the reason why it is not up */
	char told[sizeof(((struct error *)0)->text)];
	bool closing;
};

/* `connection` is zeroed except for the fields that select its target.  Starts
 * connecting once the loop runs; a connection to a replica begins with number
 * `first` of those configured, or known to a sentinel, and takes another at
 * each try. */
int async_connection_open(struct async_connection *c, struct loop *loop,
			  const struct redis_config *config,
			  const struct redis_scripts *scripts, size_t first,
			  redis_state_fn *on_state, void *arg,
			  struct error *err);

/* Ends the connection for good.  Commands in flight get a NULL reply within
 * this call. */
void async_connection_close(struct async_connection *c);

/* Ends the connection for the reason `why`, and connects again after the
 * back-off.  Commands in flight get a NULL reply within this call. */
void async_connection_give_up(struct async_connection *c, const char *why);

/* The server refused to write: queries whether it has become a replica.
 * Callable from any callback. */
void async_connection_suspect(struct async_connection *c);

/* Ends the connection once what is in flight is answered, and connects again.
 * Callable from any callback. */
void async_connection_renew(struct async_connection *c, const char *why);

/* To be called when a command was answered with NULL: the connection is
 * ending. */
void async_connection_ending(struct async_connection *c,
			     const redisAsyncContext *context);

#endif
