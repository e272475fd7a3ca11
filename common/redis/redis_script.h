/*
 * redis_script.h - a Lua script, by text and by SHA-1.
 *
 * A connection loads the scripts it is made for before it is used (SCRIPT
 * LOAD), so that a call is its SHA-1 and its arguments.  A server that answers
 * NOSCRIPT has dropped them (SCRIPT FLUSH): nothing was run, and the connection
 * is made anew.
 *
 * A script that comes upon what it cannot read ends with error({err = 'DAMAGED
 * ...'}) before it has written anything; its caller gets ERROR_DAMAGED.
 */
#ifndef COMMON_REDIS_REDIS_SCRIPT_H
#define COMMON_REDIS_REDIS_SCRIPT_H

#include <stddef.h>

/* A Lua script and the SHA-1 that EVALSHA calls it by.  Filled once by
 * redis_script_init; read by any thread from then on. */
struct redis_script {
	const char *text;
	char sha[41];
};
void redis_script_init(struct redis_script *script, const char *text);

/* Those of a connection. */
struct redis_scripts {
	const struct redis_script *items;
	size_t count;
};

#endif
