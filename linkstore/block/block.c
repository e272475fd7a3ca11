#include "linkstore/block/block.h"

#include <inttypes.h>

#include "linkstore/async_call.h"

static void build_block_command(struct command *c,
				const struct link_block *block,
				enum link_script script)
{
	command_script(c, block->space, script);
	command_marker_key(c, block->space, block->number);
	command_number(c, block->generation);
	command_text(c, block->holder);
	if (script == SCRIPT_CLOSE_OWN)
		return;
	command_text(c, block->ttl->name);
	command_time(c, block->ttl->ttl);
	command_time(c, linkstore_config(block->space->store)->hold_max);
}

/* The reply is {1, end} or {0, generation found, open}.  An answer to close_own
 * has no end. */
static int parse_block_reply(const redisReply *reply, const void *about,
			     void *ret_end, struct error *err)
{
	const struct link_block *block = about;

	if (!reply_is_array(reply, 1))
		return reply_malformed("open", err);
	if (reply_number(reply, 0, 0) == 1) {
		if (reply->elements > 1)
			*(int64_t *)ret_end = reply_time(reply, 1);
		return 0;
	}
	if (!reply_is_array(reply, 3))
		return reply_malformed("open", err);
	return error_set(err, ERROR_NOT_OWNER,
			 "space %s: block %" PRIu64 " is not ours under "
			 "generation %" PRIu32 ": its marker is %s under "
			 "generation %" PRId64,
			 block->space->name, block->number, block->generation,
			 reply_number(reply, 2, 0) ? "open" : "closed",
			 reply_number(reply, 1, 0));
}

static const struct async_call_type open_call = {
	.about_size = sizeof(struct link_block),
	.value_size = sizeof(int64_t),
	.parse = parse_block_reply,
	.deliver = async_call_deliver_number,
};

static const struct async_call_type close_call = {
	.about_size = sizeof(struct link_block),
	.value_size = sizeof(int64_t),
	.parse = parse_block_reply,
	.deliver = async_call_deliver_done,
};

int block_open_async(struct redis_async *redis, const struct link_block *block,
		     block_open_fn *fn, void *arg, struct error *err)
{
	struct command c;

	build_block_command(&c, block, SCRIPT_OPEN);
	return async_call_send(&c, redis, &open_call, block,
			       (async_call_fn *)fn, arg, err);
}

int block_close_own_async(struct redis_async *redis,
			  const struct link_block *block, block_done_fn *fn,
			  void *arg, struct error *err)
{
	struct command c;

	build_block_command(&c, block, SCRIPT_CLOSE_OWN);
	return async_call_send(&c, redis, &close_call, block,
			       (async_call_fn *)fn, arg, err);
}
