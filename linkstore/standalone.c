#include "linkstore/standalone.h"

#include <stdlib.h>

#include "common/clock.h"
#include "common/drop_const.h"
#include "linkstore/async_call.h"

void standalone_prepare(const struct link_class *ttl, uint64_t link_id,
			Shortloop__Link *link)
{
	link->link_id = link_id;
	link->generation = 0;
	link->version = 1;
	link->ttl_class = drop_const(ttl->name);
	link->ttl_ms = ttl->ttl == DURATION_NEVER ? 0 : (uint64_t)ttl->ttl;
}

static int build_standalone_command(struct command *c,
				    const struct link_target *target,
				    const Shortloop__Link *link,
				    int64_t deadline, struct error *err)
{
	size_t len = shortloop__link__get_packed_size(link);
	uint8_t *record;

	if (link_space_has_blocks(target->space))
		return error_set(err, ERROR_INPUT,
				 "a link of space %s belongs to a block",
				 target->space->name);
	record = malloc(len ? len : 1);
	if (!record)
		return error_set_nomem(err);
	shortloop__link__pack(link, record);
	command_script(c, target->space, SCRIPT_STANDALONE_CREATE);
	command_target_key(c, target);
	command_trace_key(c, target);
	command_arg(c, record, len);
	command_time(c, link->ttl_ms ? (int64_t)link->ttl_ms : DURATION_NEVER);
	command_time(c, deadline);
	command_quarantine(c, target);
	free(record);
	return 0;
}

static int parse_taken(const redisReply *reply,
		       const struct link_target *target,
		       struct standalone_result *ret, struct error *err)
{
	const redisReply *record;

	if (!reply_is_array(reply, 3) ||
	    reply->element[1]->type != REDIS_REPLY_STRING)
		return reply_malformed("standalone_create", err);
	record = reply->element[1];
	ret->outcome = STANDALONE_TAKEN;
	ret->existing_left = reply_time(reply, 2);
	ret->existing = shortloop__link__unpack(NULL, record->len,
						(const uint8_t *)record->str);
	if (!ret->existing)
		return error_set(err, ERROR_PROTOCOL,
				 "the record of link %s is damaged",
				 target->code);
	return 0;
}

static int parse_standalone_reply(const redisReply *reply, const void *about,
				  void *ret_value, struct error *err)
{
	const struct link_target *target = about;
	struct standalone_result *ret = ret_value;
	int64_t what;

	if (!reply_is_array(reply, 1))
		return reply_malformed("standalone_create", err);
	what = reply_number(reply, 0, -3);
	if (what == -1)
		return error_set(err, ERROR_LATE,
				 "link %s was not stored: its deadline has "
				 "passed",
				 target->code);
	if (what == 0) {
		if (parse_taken(reply, target, ret, err))
			return -1;
	} else if (!reply_is_array(reply, 2) || (what != 1 && what != -2)) {
		return reply_malformed("standalone_create", err);
	} else if (what == 1) {
		ret->outcome = STANDALONE_CREATED;
		ret->expires = reply_time(reply, 1);
	} else {
		ret->outcome = STANDALONE_QUARANTINED;
		ret->existing_left = reply_time(reply, 1);
	}
	return 0;
}

static void release_existing_link(struct standalone_result *result)
{
	if (result->existing)
		shortloop__link__free_unpacked(drop_const(result->existing),
					       NULL);
	result->existing = NULL;
}

static void deliver_standalone_result(async_call_fn *fn, void *arg, void *value,
				      const struct error *failure)
{
	((standalone_created_fn *)fn)(arg, failure ? NULL : value, failure);
	release_existing_link(value);
}

static const struct async_call_type create_call = {
	.about_size = sizeof(struct link_target),
	.value_size = sizeof(struct standalone_result),
	.parse = parse_standalone_reply,
	.deliver = deliver_standalone_result,
};

int standalone_create_async(struct redis_async *redis,
			    const struct link_target *target,
			    const Shortloop__Link *link, int64_t deadline,
			    standalone_created_fn *fn, void *arg,
			    struct error *err)
{
	struct command c;

	if (build_standalone_command(&c, target, link, deadline, err))
		return -1;
	return async_call_send(&c, redis, &create_call, target,
			       (async_call_fn *)fn, arg, err);
}
