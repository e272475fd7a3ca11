/*
 * async_call.h - a command on a loop whose answer becomes a value: the common
 * part of linkstore's calls.  They differ in the command, in how its answer is
 * parsed, and in the arguments of their callbacks.
 */
#ifndef LINKSTORE_ASYNC_CALL_H
#define LINKSTORE_ASYNC_CALL_H

#include <stddef.h>
#include <stdint.h>

#include "linkstore/command.h"

/* A callback of any type; `deliver` casts it back to its own. */
typedef void async_call_fn(void);

struct async_call_type {
	size_t about_size; /* data on the request that parse needs; 0: none */
	size_t value_size; /* 0: the answer has no value */
	/* Parses an answer into *ret_value, which is zeroed.  Returns 0, or -1
	 * and *err. */
	int (*parse)(const redisReply *reply, const void *about,
		     void *ret_value, struct error *err);
	/* Calls `fn` with the value, which parse has filled unless `failure` is
	 * set, and releases what the value holds. */
	void (*deliver)(async_call_fn *fn, void *arg, void *value,
			const struct error *failure);
};

/* Callbacks whose only argument is the failure, and those with one number, an
 * int64_t. */
typedef void async_call_done_fn(void *arg, const struct error *failure);
typedef void async_call_number_fn(void *arg, int64_t number,
				  const struct error *failure);
void async_call_deliver_done(async_call_fn *fn, void *arg, void *value,
			     const struct error *failure);
void async_call_deliver_number(async_call_fn *fn, void *arg, void *value,
			       const struct error *failure);

/*
 * Sends the command and frees it.  `type` is kept by reference, *about is
 * copied.  `fn` is called once if this returns 0, and otherwise never.
 */
int async_call_send(struct command *c, struct redis_async *redis,
		    const struct async_call_type *type, const void *about,
		    async_call_fn *fn, void *arg, struct error *err);

#endif
