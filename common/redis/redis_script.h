/*
 * redis_script.h - a Lua script, by text and by SHA-1.
 *
 * Before a connection is used, it loads its scripts (SCRIPT LOAD), so that a
 * call is only the SHA-1 and the arguments.  A server that answers NOSCRIPT has
 * dropped them (SCRIPT FLUSH): nothing was run, and the connection is made
 * again.
 *
 * A script that finds data it cannot read ends with error({err = 'DAMAGED
 * ...'}) before it has written anything; its caller gets ERROR_DAMAGED.
 */
#ifndef COMMON_REDIS_REDIS_SCRIPT_H
#define COMMON_REDIS_REDIS_SCRIPT_H

#include <stddef.h>

/* A Lua script and the SHA-1 by which EVALSHA calls it.  redis_script_init
 * fills it once; from then on any thread may read it. */
struct redis_script {
	const char *text;
	char sha[41];
};
void redis_script_init(struct redis_script *script, const char *text);

/* The scripts of a connection. */
struct redis_scripts {
	const struct redis_script *items;
	size_t count;
};

#endif
