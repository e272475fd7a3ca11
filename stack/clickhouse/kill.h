/*
 * kill.h - KILL QUERY for an engine that gives queries ids of its own: the id
 * of the request is the setting log_comment of its query.  Pure.
 */
#ifndef STACK_CLICKHOUSE_KILL_H
#define STACK_CLICKHOUSE_KILL_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

/* A statement; it outlives this. */
struct kill {
	const char *text;
	size_t len;
};

/* Is it a KILL QUERY that waits for their ends? */
bool kill_is_sync(const struct kill *k);

/* Appends it as the engine has to be told. */
void kill_rewrite(const struct kill *k, struct buf *out);

/* Does a string in it stand for that id, or, with startsWith, for the beginning
 * of it? */
bool kill_names(const char *id, const void *kill);

#endif
