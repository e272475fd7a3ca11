#include "linkstore/block/block.h"

#include <inttypes.h>
#include <stdlib.h>

#include "linkstore/command.h"

static void build(struct command *c, const struct link_block *block,
		  enum link_script script)
{
	command_script(c, block->space, script);
	command_marker_key(c, block->space, block->number);
	command_number(c, block->generation);
	command_text(c, block->holder);
	command_text(c, block->ttl->name);
	if (script == SCRIPT_CLOSE_OWN)
		return;
	command_time(c, block->ttl->ttl);
	command_time(c, linkstore_config(block->space->store)->hold_max);
}

/* {1, end} or {0, generation found, open}.  The end is absent from an answer to
 * close_own. */
static int parse(const redisReply *reply, const struct link_block *block,
		 int64_t *ret_end, struct error *err)
{
	if (!reply_is_array(reply, 1))
		return reply_malformed("open", err);
	if (reply_number(reply, 0, 0) == 1) {
		if (reply->elements > 1)
			*ret_end = reply_time(reply, 1);
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

static int run(struct redis *redis, const struct link_block *block,
	       enum link_script script, int64_t *ret_end, struct error *err)
{
	struct command c;
	redisReply *reply;
	int status;

	build(&c, block, script);
	if (command_run(&c, redis, &reply, err))
		return -1;
	status = parse(reply, block, ret_end, err);
	freeReplyObject(reply);
	return status;
}

int block_open(struct redis *redis, const struct link_block *block,
	       int64_t *ret_end, struct error *err)
{
	return run(redis, block, SCRIPT_OPEN, ret_end, err);
}

int block_close_own(struct redis *redis, const struct link_block *block,
		    struct error *err)
{
	int64_t unused;

	return run(redis, block, SCRIPT_CLOSE_OWN, &unused, err);
}

/* --- on a loop ------------------------------------------------------------ */

struct call {
	struct link_block block;
	block_open_fn *on_open;
	block_done_fn *on_done;
	void *arg;
};

static void on_reply(void *arg, const redisReply *reply,
		     const struct error *failure)
{
	struct call *call = arg;
	int64_t end = 0;
	struct error err;

	if (!failure && parse(reply, &call->block, &end, &err))
		failure = &err;
	if (call->on_open)
		call->on_open(call->arg, end, failure);
	else
		call->on_done(call->arg, failure);
	free(call);
}

static int send(struct redis_async *redis, const struct call *call,
		enum link_script script, struct error *err)
{
	struct command c;

	build(&c, &call->block, script);
	return command_send_call(&c, redis, on_reply, call, sizeof(*call), err);
}

int block_open_async(struct redis_async *redis, const struct link_block *block,
		     block_open_fn *fn, void *arg, struct error *err)
{
	struct call call = {.block = *block, .on_open = fn, .arg = arg};

	return send(redis, &call, SCRIPT_OPEN, err);
}

int block_close_own_async(struct redis_async *redis,
			  const struct link_block *block, block_done_fn *fn,
			  void *arg, struct error *err)
{
	struct call call = {.block = *block, .on_done = fn, .arg = arg};

	return send(redis, &call, SCRIPT_CLOSE_OWN, err);
}
