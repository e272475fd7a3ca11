/*
 * script_loading.h - the commands that load a connection's scripts into the
 * server before it is used; shared by the blocking and the event-driven
 * connection.
 *
 * The connection first queries which scripts the server has, and sends only the
 * others: after a failover a thousand connections would send a thousand copies
 * of each.
 */
#ifndef COMMON_REDIS_SCRIPT_LOADING_H
#define COMMON_REDIS_SCRIPT_LOADING_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/redis/redis_script.h"

/* Appends the command that queries which of the scripts (at least one)
 * exist. */
void script_loading_ask(struct buf *out, const struct redis_scripts *scripts);

/* Checks that it is an answer to that.  An error reply is ERROR_REMOTE with
 * Redis' text. */
int script_loading_check(const redisReply *answer,
			 const struct redis_scripts *scripts,
			 struct error *err);
/* Returns true if the checked answer says that script i is missing. */
bool script_loading_lacks(const redisReply *answer, size_t i);

/* Appends the command that loads a script, and checks the answer. */
void script_loading_load(struct buf *out, const struct redis_script *script);
int script_loading_check_load(const redisReply *answer,
			      const struct redis_script *script,
			      struct error *err);

#endif
