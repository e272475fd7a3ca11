/*
 * script_loading.h - what a connection sends before it is used, so that the
 * server has its scripts: what the blocking and the event-driven connection
 * share.
 *
 * The server is asked which scripts it has, since after a failover a thousand
 * connections would send it a thousand copies of each, and gets the others.
 */
#ifndef COMMON_REDIS_SCRIPT_LOADING_H
#define COMMON_REDIS_SCRIPT_LOADING_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/redis/redis_script.h"

/* Appends the command that asks which of them (one at least) there are. */
void script_loading_ask(struct buf *out, const struct redis_scripts *scripts);

/* Is that an answer to it?  An error reply is ERROR_REMOTE with Redis' text. */
int script_loading_check(const redisReply *answer,
			 const struct redis_scripts *scripts,
			 struct error *err);
/* An answer that was checked says that script i is not there. */
bool script_loading_lacks(const redisReply *answer, size_t i);

/* Appends the command that loads a script, and checks the answer. */
void script_loading_load(struct buf *out, const struct redis_script *script);
int script_loading_check_load(const redisReply *answer,
			      const struct redis_script *script,
			      struct error *err);

#endif
