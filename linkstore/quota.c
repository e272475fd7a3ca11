#include "linkstore/quota.h"

#include <string.h>

#include "linkstore/async_call.h"

const char *quota_period_name(enum quota_period period)
{
	return period == QUOTA_DAY ? "day" : "month";
}

static int read_label(const redisReply *reply, size_t i,
		      char ret[QUOTA_LABEL_MAX], struct error *err)
{
	const char *label = reply_text(reply, i);

	if (strlen(label) >= QUOTA_LABEL_MAX)
		return reply_malformed("quota_take", err);
	strcpy(ret, label);
	return 0;
}

static int parse_quota_reply(const redisReply *reply, const void *about,
			     void *ret_value, struct error *err)
{
	struct quota_answer *ret = ret_value;

	(void)about;
	if (!reply_is_array(reply, 4))
		return reply_malformed("quota_take", err);
	ret->taken = reply_number(reply, 0, 0) == 1;
	if (!ret->taken) {
		ret->counted = reply_number(reply, 1, 0);
		ret->bytes_lack = reply_number(reply, 2, 0) == 2;
		ret->wait_ms = reply_number(reply, 3, 0);
		return 0;
	}
	ret->links = reply_number(reply, 1, 0);
	ret->bytes = reply_number(reply, 2, 0);
	return read_label(reply, 3, ret->links_label, err) ||
			       read_label(reply, 4, ret->bytes_label, err)
		       ? -1
		       : 0;
}

static void deliver_quota_answer(async_call_fn *fn, void *arg, void *value,
				 const struct error *failure)
{
	((quota_fn *)fn)(arg, failure ? NULL : value, failure);
}

static const struct async_call_type quota_take_call = {
	.value_size = sizeof(struct quota_answer),
	.parse = parse_quota_reply,
	.deliver = deliver_quota_answer,
};

static void begin_quota_command(struct command *c,
				const struct linkstore *store,
				enum link_script script, const char *account)
{
	command_script(c, linkstore_space(store, 0), script);
	command_format(c, "quota:{%s}", account);
	c->keys++;
}

static int parse_use_reply(const redisReply *reply, const void *about,
			   void *ret_value, struct error *err)
{
	struct quota_use *ret = ret_value;

	(void)about;
	if (!reply_is_array(reply, 4))
		return reply_malformed("quota_read", err);
	ret->links = reply_number(reply, 0, 0);
	ret->links_end = reply_number(reply, 1, 0);
	ret->bytes = reply_number(reply, 2, 0);
	ret->bytes_end = reply_number(reply, 3, 0);
	return 0;
}

static void deliver_use(async_call_fn *fn, void *arg, void *value,
			const struct error *failure)
{
	((quota_use_fn *)fn)(arg, failure ? NULL : value, failure);
}

static const struct async_call_type quota_read_call = {
	.value_size = sizeof(struct quota_use),
	.parse = parse_use_reply,
	.deliver = deliver_use,
};

static void put_rule(struct command *c, int64_t number,
		     const struct quota_rule *rule)
{
	command_number(c, (uint64_t)number);
	command_number(c, (uint64_t)rule->max);
	command_text(c, quota_period_name(rule->period));
}

int quota_read_async(struct redis_async *redis, const struct linkstore *store,
		     const char *account, const struct quota *quota,
		     quota_use_fn *fn, void *arg, struct error *err)
{
	struct command c;

	begin_quota_command(&c, store, SCRIPT_QUOTA_READ, account);
	command_text(&c, quota_period_name(quota->links.period));
	command_text(&c, quota_period_name(quota->bytes.period));
	return async_call_send(&c, redis, &quota_read_call, NULL,
			       (async_call_fn *)fn, arg, err);
}

int quota_take_async(struct redis_async *redis, const struct linkstore *store,
		     const char *account, const struct quota *quota,
		     int64_t links, int64_t bytes, quota_fn *fn, void *arg,
		     struct error *err)
{
	struct command c;

	begin_quota_command(&c, store, SCRIPT_QUOTA_TAKE, account);
	put_rule(&c, links, &quota->links);
	put_rule(&c, bytes, &quota->bytes);
	return async_call_send(&c, redis, &quota_take_call, NULL,
			       (async_call_fn *)fn, arg, err);
}

int quota_give_async(struct redis_async *redis, const struct linkstore *store,
		     const char *account, const struct quota_answer *taken,
		     int64_t links, int64_t bytes, struct error *err)
{
	struct command c;

	begin_quota_command(&c, store, SCRIPT_QUOTA_GIVE, account);
	command_number(&c, (uint64_t)links);
	command_text(&c, taken->links_label);
	command_number(&c, (uint64_t)bytes);
	command_text(&c, taken->bytes_label);
	return command_send_off(&c, redis, err);
}
