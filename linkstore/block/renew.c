#include "linkstore/block/renew.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "linkstore/command.h"
#include "linkstore/record_head.h"

static void build(struct command *c, const struct link_target *target,
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

static int parse(const redisReply *reply, int64_t *ret_left, struct error *err)
{
	if (!reply_is_array(reply, 2))
		return reply_malformed("renew", err);
	*ret_left = reply_time(reply, 0);
	return 0;
}

int link_renew(struct redis *redis, const struct link_target *target,
	       const Shortloop__Link *link, int64_t *ret_left,
	       struct error *err)
{
	struct command c;
	redisReply *reply;
	int status;

	build(&c, target, link);
	if (command_run(&c, redis, &reply, err))
		return -1;
	status = parse(reply, ret_left, err);
	freeReplyObject(reply);
	return status;
}

struct call {
	link_renew_fn *fn;
	void *arg;
};

static void on_reply(void *arg, const redisReply *reply,
		     const struct error *failure)
{
	struct call *call = arg;
	struct error err;
	int64_t left = 0;

	if (!failure && parse(reply, &left, &err))
		failure = &err;
	call->fn(call->arg, left, failure);
	free(call);
}

int link_renew_async(struct redis_async *redis,
		     const struct link_target *target,
		     const Shortloop__Link *link, link_renew_fn *fn, void *arg,
		     struct error *err)
{
	const struct call call = {fn, arg};
	struct command c;

	build(&c, target, link);
	return command_send_call(&c, redis, on_reply, &call, sizeof(call), err);
}
