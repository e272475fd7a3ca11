#include "linkstore/space/raise_cursor.h"

#include <stdlib.h>

#include "linkstore/command.h"

static int build(struct command *c, const struct link_space *space,
		 const struct space_seen *seen, struct error *err)
{
	if (!link_space_has_blocks(space))
		return error_set(err, ERROR_INPUT, "space %s has no blocks",
				 space->name);
	command_script(c, space, SCRIPT_RAISE_CURSOR);
	command_remember_keys(c, space);
	command_remember_args(c, space, seen);
	return 0;
}

static int parse(const redisReply *reply, const struct link_space *space,
		 struct error *err)
{
	if (!reply_is_array(reply, 2))
		return reply_malformed("raise_cursor", err);
	if (reply_number(reply, 0, 0) != 1)
		return reply_refused(reply, space, err);
	if (!reply_is_array(reply, 4))
		return reply_malformed("raise_cursor", err);
	reply_seen(reply, 2, space, (uint64_t)reply_number(reply, 1, 0));
	return 0;
}

int space_raise_cursor(struct redis *redis, const struct link_space *space,
		       const struct space_seen *seen, struct error *err)
{
	struct command c;
	redisReply *reply;
	int status;

	if (build(&c, space, seen, err) || command_run(&c, redis, &reply, err))
		return -1;
	status = parse(reply, space, err);
	freeReplyObject(reply);
	return status;
}

struct call {
	const struct link_space *space;
	space_raised_fn *fn;
	void *arg;
};

static void on_reply(void *arg, const redisReply *reply,
		     const struct error *failure)
{
	struct call *call = arg;
	struct error err;

	if (!failure && parse(reply, call->space, &err))
		failure = &err;
	call->fn(call->arg, failure);
	free(call);
}

int space_raise_cursor_async(struct redis_async *redis,
			     const struct link_space *space,
			     const struct space_seen *seen, space_raised_fn *fn,
			     void *arg, struct error *err)
{
	const struct call call = {space, fn, arg};
	struct command c;

	if (build(&c, space, seen, err))
		return -1;
	return command_send_call(&c, redis, on_reply, &call, sizeof(call), err);
}
