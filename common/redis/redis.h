/*
 * redis.h - one blocking connection to Redis, for jobs and start-up.
 *
 * Not thread-safe: one connection per thread.  Connects on first use and again
 * after a failure; a command that failed because of the connection is not
 * repeated, since only the caller knows whether it may be.
 *
 * Of several addresses the master's is used; sentinels are queried for it.  The
 * server's role is queried when the connection is made, and before a command if
 * ROLE_CHECK_MS have passed since and no reply is owed: if the server has
 * become a replica, the command fails, and the next one goes to the current
 * master.  So as long as no command fails, all go to one server.  (Of a Redis
 * Cluster with several masters it knows one node.)
 */
#ifndef COMMON_REDIS_REDIS_H
#define COMMON_REDIS_REDIS_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/redis/redis_config.h"
#include "common/redis/redis_script.h"

struct redis;

/* `config` and `scripts` (NULL: none) must outlive the connection.  Does not
 * connect yet. */
struct redis *redis_new(const struct redis_config *config,
			const struct redis_scripts *scripts, struct error *err);
void redis_free(struct redis *r); /* NULL accepted */

/*
 * Sends one command, given as argc binary-safe arguments (lens may be NULL for
 * C strings), and waits.  The caller frees *ret_reply with freeReplyObject.  An
 * error reply is ERROR_REMOTE with Redis' text; a lost connection or a timeout
 * is ERROR_REMOTE, retriable.
 */
int redis_command(struct redis *r, int argc, const char **argv,
		  const size_t *lens, redisReply **ret_reply,
		  struct error *err);

/* Calls one of the connection's scripts. */
int redis_eval(struct redis *r, const struct redis_script *script, int keys,
	       int argc, const char **argv, const size_t *lens,
	       redisReply **ret_reply, struct error *err);

/*
 * Pipelining: append any number of commands, then take as many replies in
 * order.  Error replies are returned as replies (REDIS_REPLY_ERROR).  After a
 * failure the replies still owed are dropped.
 */
int redis_append(struct redis *r, int argc, const char **argv,
		 const size_t *lens, struct error *err);
int redis_append_eval(struct redis *r, const struct redis_script *script,
		      int keys, int argc, const char **argv, const size_t *lens,
		      struct error *err);
int redis_take_reply(struct redis *r, redisReply **ret_reply,
		     struct error *err);

/* The same, but an error reply is an error, unless it says that the key is of
 * another type.  It counts as one of the replies owed, and those after it can
 * still be taken. */
int redis_take_answer(struct redis *r, redisReply **ret_reply,
		      struct error *err);

/* Sends the appended commands now, not only when a reply is awaited. */
int redis_flush(struct redis *r, struct error *err);

enum redis_value_type {
	REDIS_VALUE_NIL,
	REDIS_VALUE_TEXT,
	REDIS_VALUE_NUMBER,
	REDIS_VALUE_ERROR, /* `text` is the error */
};

struct redis_value {
	enum redis_value_type type;
	const char *text; /* not NUL-terminated; during the call only */
	size_t len;
	int64_t number;
};

/* Receives value i of a reply: element i of an array, or the reply itself. */
typedef void redis_value_fn(void *arg, size_t i,
			    const struct redis_value *value);

/*
 * Like redis_take_reply, for replies with millions of values: passes the next
 * reply's values to fn one by one, without allocating memory for them.
 * ERROR_PROTOCOL: it had nested arrays.
 */
int redis_take_values(struct redis *r, redis_value_fn *fn, void *arg,
		      struct error *err);

/*
 * Queries the server that answered the last command whether it still is the
 * master: a replica does not refuse reads, and the data of one that has lost
 * its link stops changing.  Call it after the last read on which a decision
 * rests.  It connects to no other server.  No reply may be owed.  Without the
 * permission for INFO, and behind a proxy that does not report the role, the
 * server counts as the master.
 */
int redis_confirm_master(struct redis *r, struct error *err);

/* Returns the id of the server's current run; "": unknown.  Valid until the
 * next call. */
const char *redis_run_id(const struct redis *r);

/*
 * For a connection that has sent SUBSCRIBE by redis_command: sends a command
 * whose answer redis_listen returns (PING).
 */
int redis_send(struct redis *r, int argc, const char **argv, struct error *err);

/*
 * For the same: waits for up to `timeout_ms`.  Returns 1 if *ret_reply is the
 * next message, which the caller frees; 0 if no complete one came; -1 if the
 * connection is gone.  A reply much larger than `bytes_max` ends the
 * connection.
 */
int redis_listen(struct redis *r, int64_t timeout_ms, size_t bytes_max,
		 redisReply **ret_reply, struct error *err);

/*
 * Sets *ret_apart if the keys of one command must be in one slot, as on a node
 * of a Redis Cluster.  Queried once per connection.
 */
int redis_keeps_slots_apart(struct redis *r, bool *ret_apart,
			    struct error *err);

#endif
