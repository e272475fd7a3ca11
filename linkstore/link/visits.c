#include "linkstore/link/visits.h"

#include <stdlib.h>

#include "linkstore/command.h"
#include "linkstore/record_head.h"

struct call {
	struct link_target target;
	link_counted_fn *on_counted;
	link_visits_fn *on_read;
	void *arg;
};

/* --- counting ------------------------------------------------------------- */

static void build_count(struct command *c, const struct link_target *target,
			uint64_t link_id, uint64_t max)
{
	unsigned char head[RECORD_HEAD];

	record_head(link_id, head);
	command_script(c, target->space, SCRIPT_VISIT);
	command_target_key(c, target);
	command_visits_key(c, target, link_id);
	command_arg(c, head, sizeof(head));
	command_number(c, max);
}

static int parse_count(const redisReply *reply,
		       const struct link_target *target, bool *ret_allowed,
		       uint64_t *ret_used, struct error *err)
{
	int64_t what;

	if (!reply_is_array(reply, 2))
		return reply_malformed("visit", err);
	what = reply_number(reply, 0, -1);
	if (what < 0)
		return error_set(err, ERROR_NOTFOUND,
				 "link %s is gone, or its code another's",
				 target->code);
	*ret_allowed = what == 1;
	*ret_used = (uint64_t)reply_number(reply, 1, 0);
	return 0;
}

int link_count_visit(struct redis *redis, const struct link_target *target,
		     uint64_t link_id, uint64_t max, bool *ret_allowed,
		     uint64_t *ret_used, struct error *err)
{
	struct command c;
	redisReply *reply;
	int status;

	build_count(&c, target, link_id, max);
	if (command_run(&c, redis, &reply, err))
		return -1;
	status = parse_count(reply, target, ret_allowed, ret_used, err);
	freeReplyObject(reply);
	return status;
}

static void on_counted(void *arg, const redisReply *reply,
		       const struct error *failure)
{
	struct call *call = arg;
	bool allowed = false;
	uint64_t used = 0;
	struct error err;

	if (!failure &&
	    parse_count(reply, &call->target, &allowed, &used, &err))
		failure = &err;
	call->on_counted(call->arg, allowed, used, failure);
	free(call);
}

int link_count_visit_async(struct redis_async *redis,
			   const struct link_target *target, uint64_t link_id,
			   uint64_t max, link_counted_fn *fn, void *arg,
			   struct error *err)
{
	struct call call = {.target = *target, .on_counted = fn, .arg = arg};
	struct command c;

	build_count(&c, target, link_id, max);
	return command_send_call(&c, redis, on_counted, &call, sizeof(call),
				 err);
}

/* --- reading -------------------------------------------------------------- */

static void build_read(struct command *c, const struct link_target *target,
		       uint64_t link_id)
{
	command_plain(c, "GET");
	command_visits_key(c, target, link_id);
}

static int parse_read(const redisReply *reply, const struct link_target *target,
		      uint64_t *ret_used, struct error *err)
{
	char *end;

	if (reply->type == REDIS_REPLY_NIL) {
		*ret_used = 0;
		return 0;
	}
	if (reply->type != REDIS_REPLY_STRING)
		return reply_malformed("GET", err);
	*ret_used = strtoull(reply->str, &end, 10);
	if (end == reply->str || *end)
		return error_set(err, ERROR_PROTOCOL,
				 "the count of visits of link %s is no number",
				 target->code);
	return 0;
}

int link_read_visits(struct redis *redis, const struct link_target *target,
		     uint64_t link_id, uint64_t *ret_used, struct error *err)
{
	struct command c;
	redisReply *reply;
	int status;

	build_read(&c, target, link_id);
	if (command_run(&c, redis, &reply, err))
		return -1;
	status = parse_read(reply, target, ret_used, err);
	freeReplyObject(reply);
	return status;
}

static void on_read(void *arg, const redisReply *reply,
		    const struct error *failure)
{
	struct call *call = arg;
	uint64_t used = 0;
	struct error err;

	if (!failure && parse_read(reply, &call->target, &used, &err))
		failure = &err;
	call->on_read(call->arg, used, failure);
	free(call);
}

int link_read_visits_async(struct redis_async *redis,
			   const struct link_target *target, uint64_t link_id,
			   link_visits_fn *fn, void *arg, struct error *err)
{
	struct call call = {.target = *target, .on_read = fn, .arg = arg};
	struct command c;

	build_read(&c, target, link_id);
	return command_send_call(&c, redis, on_read, &call, sizeof(call), err);
}
