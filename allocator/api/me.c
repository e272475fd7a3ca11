/* GET /v1/me: the caller's key, and what it may do. */
#include <stdlib.h>

#include "allocator/api/api_reply.h"
#include "allocator/api/handlers.h"
#include "allocator/api/place_lists.h"
#include "allocator/keys/account_rules.h"
#include "common/clock.h"
#include "common/keys/key_view.h"

struct me_call {
	struct api_context *api;
	struct http_request *req;
	struct api_key_info caller;
};

/* The classes that the account may use. */
static void put_ttl_names(struct buf *out, const struct linkstore *store,
			  const struct account_rules *rules)
{
	const char *name, *comma = "";

	buf_puts(out, ",\"ttl\":[");
	for (size_t i = 0; i < linkstore_class_count(store); i++) {
		name = linkstore_class(store, i)->name;
		if (!account_rules_allow_ttl(rules, name))
			continue;
		buf_puts(out, comma);
		place_lists_put_name(out, name);
		comma = ",";
	}
	buf_putc(out, ']');
}

/* Nothing is counted, and null is written, if there is no limit. */
static void put_limit(struct buf *out, const char *member,
		      const struct quota_rule *rule, int64_t used, int64_t ends)
{
	char text[RFC3339_TEXT_MAX];

	buf_puts(out, member);
	if (!rule || !rule->max) {
		buf_puts(out, "null");
		return;
	}
	buf_puts(out, "{\"used\":");
	buf_put_uint(out, (uint64_t)used);
	buf_puts(out, ",\"max\":");
	buf_put_uint(out, (uint64_t)rule->max);
	buf_printf(out, ",\"period\":\"%s\",\"resets_at\":\"%s\"}",
		   quota_period_name(rule->period), rfc3339_format(ends, text));
}

static void put_quota(struct buf *out, const struct account_rules *rules,
		      const struct quota_use *use)
{
	put_limit(out,
		  ",\"quota\":{\"links\":", rules ? &rules->quota.links : NULL,
		  use->links, use->links_end);
	put_limit(out, ",\"bytes\":", rules ? &rules->quota.bytes : NULL,
		  use->bytes, use->bytes_end);
	buf_putc(out, '}');
}

static void reply_me(const struct me_call *me, const struct quota_use *use)
{
	static const struct http_field fields[] = {
		{"Content-Type", "application/json"},
		{"Cache-Control", "no-store"},
		{0}};
	const struct link_rules *rules = &me->api->defaults->rules;
	struct buf *out = &me->api->answer;

	buf_reset(out);
	key_view_begin(&me->caller, clock_monotonic_ns(), out);
	buf_puts(out, ",\"spaces\":");
	place_lists_put_spaces(out, rules->store, &me->caller);
	buf_puts(out, ",\"domains\":");
	place_lists_put_domains(out, rules, &me->caller);
	put_ttl_names(out, rules->store, me->caller.rules);
	put_quota(out, me->caller.rules, use);
	buf_putc(out, '}');
	if (out->failed)
		http_reply_problem(me->req, 500, NULL, "out of memory");
	else
		http_reply(me->req, 200, fields, out->data, out->len);
}

static void on_use(void *arg, const struct quota_use *use,
		   const struct error *err)
{
	struct me_call *me = arg;

	if (err)
		api_reply_failure(me->api, me->req, err);
	else
		reply_me(me, use);
	free(me);
}

/* Redis is only asked if the account has a quota. */
static void query_use(struct me_call *me)
{
	const struct account_rules *rules = me->caller.rules;
	const struct quota_use none = {0};
	struct error err = {0};

	if (!rules || !quota_is_set(&rules->quota)) {
		reply_me(me, &none);
	} else if (quota_read_async(me->api->creation.redis,
				    me->api->defaults->rules.store,
				    me->caller.account, &rules->quota, on_use,
				    me, &err) == 0) {
		return;
	} else {
		api_reply_failure(me->api, me->req, &err);
	}
	free(me);
}

void handle_me(const struct api_call *call)
{
	struct me_call *me = calloc(1, sizeof(*me));

	if (!me) {
		http_reply_problem(call->req, 500, NULL, "out of memory");
		return;
	}
	me->api = call->api;
	me->req = call->req;
	me->caller = *call->caller;
	query_use(me);
}
