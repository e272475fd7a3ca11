#include "linkstore/async_call.h"

#include <stdlib.h>
#include <string.h>

struct sent_call {
	const struct async_call_type *type;
	async_call_fn *fn;
	void *arg;
	max_align_t data[]; /* the value, then the copy of `about` */
};

/* Rounds up, so that the data behind the value is aligned. */
static size_t room_of(size_t size)
{
	return (size + sizeof(max_align_t) - 1) / sizeof(max_align_t);
}

static void *about_of(struct sent_call *call)
{
	return call->data + room_of(call->type->value_size);
}

static void on_reply(void *arg, const redisReply *reply,
		     const struct error *failure)
{
	struct sent_call *call = arg;
	struct error err;

	if (!failure &&
	    call->type->parse(reply, about_of(call), call->data, &err))
		failure = &err;
	call->type->deliver(call->fn, call->arg, call->data, failure);
	free(call);
}

int async_call_send(struct command *c, struct redis_async *redis,
		    const struct async_call_type *type, const void *about,
		    async_call_fn *fn, void *arg, struct error *err)
{
	size_t room = room_of(type->value_size) + room_of(type->about_size);
	struct sent_call *call =
		calloc(1, sizeof(*call) + room * sizeof(call->data[0]));

	if (!call) {
		command_free(c);
		return error_set_nomem(err);
	}
	call->type = type;
	call->fn = fn;
	call->arg = arg;
	if (type->about_size)
		memcpy(about_of(call), about, type->about_size);
	if (command_send(c, redis, on_reply, call, err) == 0)
		return 0;
	free(call);
	return -1;
}

void async_call_deliver_done(async_call_fn *fn, void *arg, void *value,
			     const struct error *failure)
{
	(void)value;
	((async_call_done_fn *)fn)(arg, failure);
}

void async_call_deliver_number(async_call_fn *fn, void *arg, void *value,
			       const struct error *failure)
{
	const int64_t *number = value;

	((async_call_number_fn *)fn)(arg, failure ? 0 : *number, failure);
}
