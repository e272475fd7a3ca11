#include "linkstore/link/visit_count.h"

#include "linkstore/async_call.h"
#include "linkstore/record_head.h"

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

struct visit_answer {
	enum visit_count result;
	uint64_t used;
};

static int parse_count(const redisReply *reply, const void *about,
		       void *ret_value, struct error *err)
{
	/* Indexed by the script's number. */
	static const enum visit_count results[] = {
		VISIT_NONE_LEFT, VISIT_COUNTED, FETCH_NONE_LEFT};
	const struct link_target *target = about;
	struct visit_answer *ret = ret_value;
	int64_t what;

	if (!reply_is_array(reply, 2))
		return reply_malformed("visit", err);
	what = reply_number(reply, 0, -1);
	if (what < 0)
		return error_set(err, ERROR_NOTFOUND,
				 "link %s is gone, or its code another's",
				 target->code);
	if ((size_t)what >= sizeof(results) / sizeof(*results))
		return reply_malformed("visit", err);
	ret->result = results[what];
	ret->used = (uint64_t)reply_number(reply, 1, 0);
	return 0;
}

static void deliver_count(async_call_fn *fn, void *arg, void *value,
			  const struct error *failure)
{
	const struct visit_answer *count = value;

	((link_counted_fn *)fn)(arg, count->result, count->used, failure);
}

static const struct async_call_type count_call = {
	.about_size = sizeof(struct link_target),
	.value_size = sizeof(struct visit_answer),
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
	return async_call_send(&c, redis, &count_call, target,
			       (async_call_fn *)fn, arg, err);
}

int link_count_fetch_async(struct redis_async *redis,
			   const struct link_target *target, uint64_t link_id,
			   uint64_t max, uint64_t max_fetches,
			   link_counted_fn *fn, void *arg, struct error *err)
{
	struct command c;

	build_count(&c, target, link_id, max);
	command_number(&c, max_fetches);
	return async_call_send(&c, redis, &count_call, target,
			       (async_call_fn *)fn, arg, err);
}
