#include "linkstore/block/renew.h"

#include "common/clock.h"
#include "linkstore/async_call.h"
#include "linkstore/record_head.h"

static void build_renewal_command(struct command *c,
				  const struct link_target *target,
				  const Shortloop__Link *link)
{
	const struct linkstore *store = target->space->store;
	unsigned char head[RECORD_HEAD];

	record_head(link->link_id, head);
	command_script(c, target->space, SCRIPT_RENEW);
	command_link_keys(c, target, link->link_id);
	command_arg(c, head, sizeof(head));
	command_number(c, link->version);
	command_number(c, link->generation);
	command_number(c, link->ttl_ms);
	command_time(c, linkstore_renew_below(store, link->ttl_ms));
	command_quarantine(c, target);
}

static int parse_renewal_reply(const redisReply *reply, const void *about,
			       void *ret_value, struct error *err)
{
	struct link_renewal *renewal = ret_value;

	(void)about;
	if (!reply_is_array(reply, 2))
		return reply_malformed("renew", err);
	renewal->left = reply_time(reply, 0);
	renewal->end = reply_number(reply, 1, 0);
	return 0;
}

static void deliver_renewal(async_call_fn *fn, void *arg, void *value,
			    const struct error *failure)
{
	((link_renew_fn *)fn)(arg, failure ? NULL : value, failure);
}

static const struct async_call_type renew_call = {
	.value_size = sizeof(struct link_renewal),
	.parse = parse_renewal_reply,
	.deliver = deliver_renewal,
};

int link_renew_async(struct redis_async *redis,
		     const struct link_target *target,
		     const Shortloop__Link *link, link_renew_fn *fn, void *arg,
		     struct error *err)
{
	struct command c;

	build_renewal_command(&c, target, link);
	return async_call_send(&c, redis, &renew_call, NULL,
			       (async_call_fn *)fn, arg, err);
}
