/*
 * wire.h - shared by the blocking and the event-driven connection: commands in
 * Redis' protocol (RESP), addresses, and the meaning of error replies.
 */
#ifndef COMMON_REDIS_WIRE_H
#define COMMON_REDIS_WIRE_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/redis/redis_script.h"

#define REDIS_HOST_MAX 256

/* For error_outside, in place of an error that contains Redis' text or
 * address. */
#define REDIS_REFUSED "Redis refused this; the log of the program says why"
#define REDIS_AWAY    "Redis is away or does not answer"

struct redis_address {
	char host[REDIS_HOST_MAX];	/* or the path of a socket */
	int port;			/* 0: a Unix socket */
	char text[REDIS_HOST_MAX + 16]; /* as it was written */
};

/* "host:port", "[v6]:port" or "unix:/path"; ERROR_CONFIG otherwise. */
int redis_address_parse(const char *text, struct redis_address *ret_address,
			struct error *err);

/* Appends one command; lens may be NULL for C strings. */
void redis_wire_command(struct buf *out, int argc, const char **argv,
			const size_t *lens);

/* The same in parts: a head, then `argc` arguments. */
void redis_wire_begin(struct buf *out, size_t argc);
void redis_wire_argument(struct buf *out, const char *data, size_t len);

/* Appends EVALSHA <sha> <keys> args...  `argv` holds the keys and then the
 * arguments. */
void redis_wire_eval(struct buf *out, const struct redis_script *script,
		     int keys, int argc, const char **argv, const size_t *lens);

/*
 * Returns true for an error reply of that kind, its first word.  NOSCRIPT:
 * Redis no longer knows the script; READONLY: it has become a replica;
 * WRONGTYPE: the key is of another type than the command's; NOPERM: the user
 * has no permission.
 */
bool redis_error_is(const redisReply *reply, const char *kind);

/* Fills err from the text of an error reply: ERROR_REMOTE, retriable if the
 * text says that it is temporary, or that Redis is full.  Returns -1. */
int redis_error_text(const char *text, size_t len, struct error *err);
/* The same for an error reply. */
int redis_error_reply(const redisReply *reply, struct error *err);

#endif
