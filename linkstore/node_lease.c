#include "linkstore/node_lease.h"

#include "linkstore/async_call.h"

struct lease_span {
	int64_t from, until;
};

static void begin_lease_command(struct command *c,
				const struct linkstore *store, unsigned node,
				const char *holder)
{
	command_script(c, linkstore_space(store, 0), SCRIPT_NODE_LEASE);
	command_format(c, "node:{%u}", node);
	c->keys++;
	command_text(c, holder);
}

static int parse_lease_reply(const redisReply *reply, const void *about,
			     void *ret_value, struct error *err)
{
	const unsigned *node = about;
	struct lease_span *ret = ret_value;

	if (!reply_is_array(reply, 3))
		return reply_malformed("node_lease", err);
	if (reply_number(reply, 0, 0) != 1)
		return error_set_retriable(err, ERROR_BUSY,
					   "node %u is in use by %.80s: give "
					   "each allocator a node of its own",
					   *node, reply_text(reply, 1));
	ret->from = reply_number(reply, 1, 0);
	ret->until = reply_number(reply, 2, 0);
	return 0;
}

static void deliver_lease_span(async_call_fn *fn, void *arg, void *value,
			       const struct error *failure)
{
	const struct lease_span *span = value;

	((node_lease_fn *)fn)(arg, span->from, span->until, failure);
}

static const struct async_call_type keep_call = {
	.about_size = sizeof(unsigned),
	.value_size = sizeof(struct lease_span),
	.parse = parse_lease_reply,
	.deliver = deliver_lease_span,
};

int node_lease_keep_async(struct redis_async *redis,
			  const struct linkstore *store, unsigned node,
			  const char *holder, int64_t lease, node_lease_fn *fn,
			  void *arg, struct error *err)
{
	struct command c;

	begin_lease_command(&c, store, node, holder);
	command_time(&c, lease);
	command_number(&c, 0);
	return async_call_send(&c, redis, &keep_call, &node,
			       (async_call_fn *)fn, arg, err);
}

int node_lease_release_async(struct redis_async *redis,
			     const struct linkstore *store, unsigned node,
			     const char *holder, int64_t until,
			     struct error *err)
{
	struct command c;

	begin_lease_command(&c, store, node, holder);
	command_number(&c, 0);
	command_time(&c, until);
	return command_send_off(&c, redis, err);
}
