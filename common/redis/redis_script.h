/* redis_script.h - a Lua script, by text and by SHA-1. */
#ifndef COMMON_REDIS_REDIS_SCRIPT_H
#define COMMON_REDIS_REDIS_SCRIPT_H

/* A Lua script and the SHA-1 that EVALSHA calls it by.  Filled once by
 * redis_script_init; read by any thread from then on. */
struct redis_script {
	const char *text;
	char sha[41];
};
void redis_script_init(struct redis_script *script, const char *text);

#endif
