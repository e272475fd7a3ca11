/*
 * redis.h - one blocking connection to Redis, for jobs and start-up.
 *
 * Not thread-safe: one connection per thread.  Connects on first use and again
 * after a failure; a command that failed for the connection's sake is not
 * repeated by itself, since the caller knows whether it may be.
 *
 * Of several addresses the master's is used; sentinels are asked for it.  A
 * server is asked for its role when the connection is made, and before a
 * command when ROLE_CHECK_MS have passed since and no reply is owed: the
 * command fails if it has become a replica, and the next one goes to the one
 * that is master now.  So commands of which none failed went to one server. (Of
 * a Redis Cluster with several masters it knows one node.)
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

/* `config` and `scripts` (NULL: none) must outlive it.  Does not connect yet.
 */
struct redis *redis_new(const struct redis_config *config,
			const struct redis_scripts *scripts, struct error *err);
void redis_free(struct redis *r); /* NULL accepted */

/*
 * Sends one command, given as argc binary-safe arguments (lens may be NULL for
 * C strings), and waits.  *ret_reply is the caller's: freeReplyObject.  An
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
 * order.  Error replies are handed out as replies (REDIS_REPLY_ERROR).  After a
 * failure the replies still owed are dropped.
 */
int redis_append(struct redis *r, int argc, const char **argv,
		 const size_t *lens, struct error *err);
int redis_append_eval(struct redis *r, const struct redis_script *script,
		      int keys, int argc, const char **argv, const size_t *lens,
		      struct error *err);
int redis_take_reply(struct redis *r, redisReply **ret_reply,
		     struct error *err);

/* The same where an error reply is an error, unless it says that the key is of
 * another type.  It is one of the replies owed, and those after it still are.
 */
int redis_take_answer(struct redis *r, redisReply **ret_reply,
		      struct error *err);

/* Sends what was appended now, rather than when a reply is waited for. */
int redis_flush(struct redis *r, struct error *err);

enum redis_value_type {
	REDIS_VALUE_NIL,
	REDIS_VALUE_TEXT,
	REDIS_VALUE_NUMBER,
	REDIS_VALUE_ERROR, /* `text` says which */
};

struct redis_value {
	enum redis_value_type type;
	const char *text; /* not NUL-terminated; during the call only */
	size_t len;
	int64_t number;
};

/* Value i of a reply: element i of an array, or the reply itself. */
typedef void redis_value_fn(void *arg, size_t i,
			    const struct redis_value *value);

/*
 * redis_take_reply for replies by the million: the next reply's values go to fn
 * one by one, and no memory is taken for them.  ERROR_PROTOCOL: it had arrays
 * in an array.
 */
int redis_take_values(struct redis *r, redis_value_fn *fn, void *arg,
		      struct error *err);

/*
 * Asks the server, by which the last command was answered, whether it is the
 * master still: reads are not refused by a replica, and one that has lost its
 * link looks as if nothing ever moved.  For a verdict, after its last read.
 * Connects to no other.  No reply may be owed.  Without the permission for
 * INFO, and behind a proxy that does not tell, it is taken for one.
 */
int redis_confirm_master(struct redis *r, struct error *err);

/* Which start of which server it is connected to; "": that is not known.  Until
 * the next call. */
const char *redis_run_id(const struct redis *r);

/*
 * Of a connection that has sent SUBSCRIBE by redis_command: sends a command
 * whose answer redis_listen hands out (PING).
 */
int redis_send(struct redis *r, int argc, const char **argv, struct error *err);

/*
 * The same, waiting for up to `timeout_ms`: 1: *ret_reply is what came next,
 * and the caller's; 0: nothing, or not all of it, came; -1: the connection is
 * gone.  A reply of much more than `bytes_max` ends it.
 */
int redis_listen(struct redis *r, int64_t timeout_ms, size_t bytes_max,
		 redisReply **ret_reply, struct error *err);

/*
 * Must the keys of one command lie in one slot?  True of a Redis Cluster's
 * node. Asked once a connection.
 */
int redis_keeps_slots_apart(struct redis *r, bool *ret_apart,
			    struct error *err);

#endif
