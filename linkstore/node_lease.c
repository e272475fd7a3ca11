#include "linkstore/node_lease.h"

#include <stdlib.h>

#include "linkstore/command.h"

struct call {
	unsigned node;
	node_lease_fn *fn;
	void *arg;
};

static void build(struct command *c, const struct linkstore *store,
		  unsigned node, const char *holder)
{
	command_script(c, linkstore_space(store, 0), SCRIPT_NODE_LEASE);
	command_format(c, "node:{%u}", node);
	c->keys++;
	command_text(c, holder);
}

static int parse(const redisReply *reply, unsigned node, int64_t *ret_from,
		 int64_t *ret_until, struct error *err)
{
	if (!reply_is_array(reply, 3))
		return reply_malformed("node_lease", err);
	if (reply_number(reply, 0, 0) != 1)
		return error_set_retriable(err, ERROR_BUSY,
					   "node %u is in use by %.80s: give "
					   "each allocator a node of its own",
					   node, reply_text(reply, 1));
	*ret_from = reply_number(reply, 1, 0);
	*ret_until = reply_number(reply, 2, 0);
	return 0;
}

static void on_reply(void *arg, const redisReply *reply,
		     const struct error *failure)
{
	struct call *call = arg;
	int64_t from = 0, until = 0;
	struct error err;

	if (!failure && parse(reply, call->node, &from, &until, &err))
		failure = &err;
	call->fn(call->arg, from, until, failure);
	free(call);
}

int node_lease_keep_async(struct redis_async *redis,
			  const struct linkstore *store, unsigned node,
			  const char *holder, int64_t lease, node_lease_fn *fn,
			  void *arg, struct error *err)
{
	const struct call call = {node, fn, arg};
	struct command c;

	build(&c, store, node, holder);
	command_time(&c, lease);
	command_number(&c, 0);
	return command_send_call(&c, redis, on_reply, &call, sizeof(call), err);
}

int node_lease_release_async(struct redis_async *redis,
			     const struct linkstore *store, unsigned node,
			     const char *holder, int64_t until,
			     struct error *err)
{
	struct command c;

	build(&c, store, node, holder);
	command_number(&c, 0);
	command_time(&c, until);
	return command_send_off(&c, redis, err);
}
