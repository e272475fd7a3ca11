#include "linkstore/space/ledger.h"

#include <stdlib.h>

#include "linkstore/command.h"

static void build(struct command *c, const struct link_space *space)
{
	command_script(c, space, SCRIPT_LEDGER);
	command_space_key(c, "space:", space);
	command_space_key(c, "cursor:", space);
	command_space_key(c, "issued:", space);
	command_space_key(c, "pool:", space);
	command_day_prefix(c, space);
}

static uint64_t count_at(const redisReply *reply, size_t i)
{
	int64_t number = reply_number(reply, i, 0);

	return number > 0 ? (uint64_t)number : 0;
}

static int parse(const redisReply *reply, const struct link_space *space,
		 struct space_ledger *ret, struct error *err)
{
	if (!reply_is_array(reply, 13))
		return reply_malformed("ledger", err);
	if (reply_number(reply, 0, 0) == 0)
		return error_set(err, ERROR_NOTFOUND,
				 "space %s was not created in this Redis",
				 space->name);
	if (link_space_has_blocks(space) && reply_number(reply, 1, -1) < 0)
		return error_set(err, ERROR_NOTFOUND,
				 "space %s has lost its cursor", space->name);
	*ret = (struct space_ledger){
		.capacity = space->blocks,
		.cursor = count_at(reply, 1),
		.issued = count_at(reply, 2),
		.due = count_at(reply, 3),
		.lost = count_at(reply, 4),
		.pooled = count_at(reply, 5),
		.quarantined = count_at(reply, 6),
		.retired = count_at(reply, 7),
		.next_due = reply_number(reply, 8, 0),
		.granted_today = count_at(reply, 9),
		.reclaimed_today = count_at(reply, 10),
		.pooled_today = count_at(reply, 11),
		.links_created_today = count_at(reply, 12),
	};
	return 0;
}

int space_read_ledger(struct redis *redis, const struct link_space *space,
		      struct space_ledger *ret_ledger, struct error *err)
{
	struct command c;
	redisReply *reply;
	int status;

	build(&c, space);
	if (command_run(&c, redis, &reply, err))
		return -1;
	status = parse(reply, space, ret_ledger, err);
	freeReplyObject(reply);
	return status;
}

struct call {
	const struct link_space *space;
	space_ledger_fn *fn;
	void *arg;
};

static void on_reply(void *arg, const redisReply *reply,
		     const struct error *failure)
{
	struct call *call = arg;
	struct space_ledger ledger;
	struct error err;

	if (!failure && parse(reply, call->space, &ledger, &err))
		failure = &err;
	call->fn(call->arg, failure ? NULL : &ledger, failure);
	free(call);
}

int space_read_ledger_async(struct redis_async *redis,
			    const struct link_space *space, space_ledger_fn *fn,
			    void *arg, struct error *err)
{
	struct call *call = malloc(sizeof(*call));
	struct command c;

	if (!call)
		return error_set_nomem(err);
	*call = (struct call){space, fn, arg};
	build(&c, space);
	if (command_send(&c, redis, on_reply, call, err)) {
		free(call);
		return -1;
	}
	return 0;
}

static void ignore(void *arg, const redisReply *reply, const struct error *err)
{
	(void)arg;
	(void)reply;
	(void)err;
}

int space_count_created_async(struct redis_async *redis,
			      const struct link_space *space, uint64_t links,
			      struct error *err)
{
	struct command c;

	command_script(&c, space, SCRIPT_COUNT);
	command_space_key(&c, "space:", space);
	command_day_prefix(&c, space);
	command_text(&c, "created");
	command_number(&c, links);
	return command_send(&c, redis, ignore, NULL, err);
}
