#include "linkstore/space/raise_cursor.h"

#include "linkstore/async_call.h"

static int build_raise_command(struct command *c,
			       const struct link_space *space,
			       const struct high_water *high_water,
			       struct error *err)
{
	if (!link_space_has_blocks(space))
		return error_set(err, ERROR_INPUT, "space %s has no blocks",
				 space->name);
	command_script(c, space, SCRIPT_RAISE_CURSOR);
	command_remember_keys(c, space);
	command_remember_args(c, space, high_water);
	return 0;
}

static int parse_raise_reply(const redisReply *reply, const void *about,
			     void *no_value, struct error *err)
{
	const struct link_space *const *space = about;

	(void)no_value;
	if (!reply_is_array(reply, 2))
		return reply_malformed("raise_cursor", err);
	if (reply_number(reply, 0, 0) != 1)
		return reply_refused(reply, *space, err);
	if (!reply_is_array(reply, 4))
		return reply_malformed("raise_cursor", err);
	reply_high_water(reply, 2, *space, (uint64_t)reply_number(reply, 1, 0));
	return 0;
}

int space_raise_cursor(struct redis *redis, const struct link_space *space,
		       const struct high_water *high_water, struct error *err)
{
	struct command c;
	redisReply *reply;
	int status;

	if (build_raise_command(&c, space, high_water, err) ||
	    command_run(&c, redis, &reply, err))
		return -1;
	status = parse_raise_reply(reply, &space, NULL, err);
	freeReplyObject(reply);
	return status;
}

static const struct async_call_type raise_call = {
	.about_size = sizeof(const struct link_space *),
	.parse = parse_raise_reply,
	.deliver = async_call_deliver_done,
};

int space_raise_cursor_async(struct redis_async *redis,
			     const struct link_space *space,
			     const struct high_water *high_water,
			     space_raised_fn *fn, void *arg, struct error *err)
{
	struct command c;

	if (build_raise_command(&c, space, high_water, err))
		return -1;
	return async_call_send(&c, redis, &raise_call, &space,
			       (async_call_fn *)fn, arg, err);
}
