/*
 * redis_async.h - Redis on an event loop: no call blocks, replies are
 * callbacks.
 *
 * Belongs to its loop's thread.  Commands sent within one loop turn are written
 * at once.  Reconnects with backoff (50 ms doubling to 2 s, with jitter).  The
 * number of commands in flight is bounded; each has a deadline
 * (command_timeout), after which its callback gets an error and the connection
 * is made again.
 */
#ifndef COMMON_REDIS_REDIS_ASYNC_H
#define COMMON_REDIS_REDIS_ASYNC_H

#include <stdbool.h>
#include <stddef.h>

#include "common/loop/loop.h"
#include "common/redis/redis.h"

struct redis_async;

/* Called when the connection comes up (err NULL), when it goes down, and when
 * the reason why it is down changes. */
typedef void redis_state_fn(void *arg, bool up, const struct error *err);

/* Exactly one call per command.  reply is NULL when err is not, and is freed
 * after the call.  An error reply arrives as err (ERROR_REMOTE, the text is
 * Redis'; not retriable unless LOADING, TRYAGAIN, CLUSTERDOWN, MASTERDOWN,
 * NOSCRIPT). */
typedef void redis_reply_fn(void *arg, const redisReply *reply,
			    const struct error *err);

/* `config` and `scripts` (NULL: none) must outlive the connection.  Starts
 * connecting once the loop runs. */
struct redis_async *redis_async_new(struct loop *loop,
				    const struct redis_config *config,
				    const struct redis_scripts *scripts,
				    redis_state_fn *on_state, void *arg,
				    struct error *err);
/* The same to a replica, one of config->replicas or of those that the sentinels
 * know.  It begins with number `first`; the next is tried if one is down, or
 * has become a master. */
struct redis_async *
redis_async_new_to_replica(struct loop *loop, const struct redis_config *config,
			   size_t first, redis_state_fn *on_state, void *arg,
			   struct error *err);
/* Commands in flight get their callback with an error.  Not to be called from a
 * callback of its own, and only once the loop no longer runs.  NULL
 * accepted. */
void redis_async_free(struct redis_async *r);

bool redis_async_is_up(const struct redis_async *r);

/* Returns the id of the run of the server it is connected to, when it is up;
 * "": unknown. */
const char *redis_async_run_id(const struct redis_async *r);

/* Returns whether all keys of a command have to be in one slot: when it is up,
 * of that server; otherwise of the one before. */
bool redis_async_keeps_slots_apart(const struct redis_async *r);

/* Returns -1, and *err, if a command would be refused now. */
int redis_async_check_room(const struct redis_async *r, struct error *err);

/* Returns the number of commands sent and not yet answered; at most
 * config->pending_max. */
size_t redis_async_pending(const struct redis_async *r);

/*
 * Writes the gathered commands.  The end of each turn does that by itself; a
 * turn-end hook that was added after this connection was made and sends
 * commands must call it, or they wait for the next turn.
 */
void redis_async_flush(struct redis_async *r);

/*
 * Writes the gathered commands in the middle of a turn, so that Redis works on
 * them while the turn continues.  No callback is called: an error, or what the
 * socket did not accept, is left to the flush at the turn's end.
 */
void redis_async_push(struct redis_async *r);

/* Refuses (-1, ERROR_REMOTE, retriable; no callback) when the connection is
 * down or too much is in flight. */
int redis_async_command(struct redis_async *r, int argc, const char **argv,
			const size_t *lens, redis_reply_fn *fn, void *arg,
			struct error *err);

/* Calls one of the connection's scripts. */
int redis_async_eval(struct redis_async *r, const struct redis_script *script,
		     int keys, int argc, const char **argv, const size_t *lens,
		     redis_reply_fn *fn, void *arg, struct error *err);

#endif
