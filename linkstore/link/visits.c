#include "linkstore/link/visits.h"

#include <stdlib.h>

#include "linkstore/call.h"
#include "linkstore/record_head.h"

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

struct count {
	bool allowed;
	uint64_t used;
};

static int parse_count(const redisReply *reply, const void *about,
		       void *ret_value, struct error *err)
{
	const struct link_target *target = about;
	struct count *ret = ret_value;
	int64_t what;

	if (!reply_is_array(reply, 2))
		return reply_malformed("visit", err);
	what = reply_number(reply, 0, -1);
	if (what < 0)
		return error_set(err, ERROR_NOTFOUND,
				 "link %s is gone, or its code another's",
				 target->code);
	ret->allowed = what == 1;
	ret->used = (uint64_t)reply_number(reply, 1, 0);
	return 0;
}

static void deliver_count(call_fn *fn, void *arg, void *value,
			  const struct error *failure)
{
	const struct count *count = value;

	((link_counted_fn *)fn)(arg, count->allowed, count->used, failure);
}

static const struct call_type count_call = {
	.about_size = sizeof(struct link_target),
	.value_size = sizeof(struct count),
	.parse = parse_count,
	.deliver = deliver_count,
};

int link_count_visit_async(struct redis_async *redis,
			   const struct link_target *target, uint64_t link_id,
			   uint64_t max, link_counted_fn *fn, void *arg,
			   struct error *err)
{
	struct command c;

	build_count(&c, target, link_id, max);
	return call_send(&c, redis, &count_call, target, (call_fn *)fn, arg,
			 err);
}

/* --- reading -------------------------------------------------------------- */

static void build_read(struct command *c, const struct link_target *target,
		       uint64_t link_id)
{
	command_plain(c, "GET");
	command_visits_key(c, target, link_id);
}

static int parse_read(const redisReply *reply, const void *about,
		      void *ret_value, struct error *err)
{
	const struct link_target *target = about;
	uint64_t *ret_used = ret_value;
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

static void deliver_read(call_fn *fn, void *arg, void *value,
			 const struct error *failure)
{
	const uint64_t *used = value;

	((link_visits_fn *)fn)(arg, *used, failure);
}

static const struct call_type read_call = {
	.about_size = sizeof(struct link_target),
	.value_size = sizeof(uint64_t),
	.parse = parse_read,
	.deliver = deliver_read,
};

int link_read_visits_async(struct redis_async *redis,
			   const struct link_target *target, uint64_t link_id,
			   link_visits_fn *fn, void *arg, struct error *err)
{
	struct command c;

	build_read(&c, target, link_id);
	return call_send(&c, redis, &read_call, target, (call_fn *)fn, arg,
			 err);
}
