/* GET /v1/links/{code}/why: what a visitor would be answered, and why. */
#include <stdlib.h>
#include <string.h>

#include "allocator/api/api_reply.h"
#include "allocator/api/find_link.h"
#include "allocator/api/handlers.h"
#include "allocator/explain/explanation.h"
#include "allocator/link/link_whose.h"
#include "common/http/url.h"
#include "linkstore/denied_hosts_follower.h"

struct why_call {
	struct api_context *api;
	struct http_request *req;
	struct api_key_info caller;
	struct url_params params;
	char code[ALIAS_TEXT_MAX];
};

static void why_free(struct why_call *why)
{
	url_params_free(&why->params);
	free(why);
}

static int read_params(struct why_call *why, struct error *err)
{
	const struct url_params *p = &why->params;

	if (url_params_parse(&why->params, http_query(why->req), err) < 0)
		return -1;
	for (size_t i = 0; i < p->count; i++) {
		const char *key = p->items[i].key;

		if (strcmp(key, "host") != 0 && strcmp(key, "user_agent") != 0)
			return error_set(err, ERROR_INPUT,
					 "%.40s: expected host or user_agent",
					 key);
		if (url_param_get(p, key) != p->items[i].value)
			return error_set(err, ERROR_INPUT, "%s: is given twice",
					 key);
	}
	return 0;
}

static void reply_why(struct why_call *why, const struct code_facts *facts)
{
	static const struct http_field fields[] = {
		{"Content-Type", "application/json"},
		{"Cache-Control", "no-store"},
		{0}};
	const struct link_rules *rules = &why->api->defaults->rules;
	const struct explained_visit visit = {
		.code = why->code,
		.host = url_param_get(&why->params, "host"),
		.user_agent = url_param_get(&why->params, "user_agent"),
	};
	struct versions_user denied = {
		.of = url_policy_denied_hosts(rules->urls)};
	const struct denied_hosts *hosts = versions_use(&denied);
	struct buf *out = &why->api->answer;

	buf_reset(out);
	explanation_write(out, &visit, facts,
			  &(struct explanation_rules){
				  rules->store, rules->domains, hosts->list});
	versions_leave(&denied);
	metric_add(why->api->metrics->reads.found, 1);
	if (out->failed)
		http_reply_problem(why->req, 500, NULL, "out of memory");
	else
		http_reply(why->req, 200, fields, out->data, out->len);
}

/* A code without a link is explained to who reads all links: others must not
 * learn which codes are theirs and which are nobody's. */
static bool may_know(const struct why_call *why, const Shortloop__Link *link)
{
	struct key_link whose;

	if (!link)
		return key_may(&why->caller, KEY_READS_ALL, NULL);
	whose = link_whose(link);
	return key_may(&why->caller, KEY_READS_LINK, &whose);
}

static void on_facts(void *arg, const struct code_facts *facts,
		     const struct error *err)
{
	struct why_call *why = arg;

	if (err)
		find_link_reply_failed(why->api, why->req, err);
	else if (may_know(why, facts->answer.link))
		reply_why(why, facts);
	else
		find_link_reply_unknown(why->api, why->req);
	why_free(why);
}

/* Returns true if it answers later. */
static bool begin_why(struct why_call *why, const struct api_call *call)
{
	const struct linkstore *store = call->api->defaults->rules.store;
	struct link_target target;
	struct error err = {0}, ignored;

	if (alias_check(call->name.data, call->name.len, &ignored) < 0) {
		find_link_reply_unknown(call->api, call->req);
	} else if (read_params(why, &err) < 0) {
		http_reply_problem(call->req, 400, NULL, "%s", err.text);
	} else if (!linkstore_locate(store, call->name.data, call->name.len,
				     &target)) {
		if (linkstore_lacks_key(store, call->name.data,
					call->name.len) ||
		    !may_know(why, NULL))
			find_link_reply_not_located(call);
		else
			reply_why(why, NULL);
	} else if (code_facts_read_async(call->api->creation.redis, &target,
					 on_facts, why, &err) == 0) {
		return true;
	} else {
		find_link_reply_failed(call->api, call->req, &err);
	}
	return false;
}

void handle_why(const struct api_call *call)
{
	struct why_call *why = calloc(1, sizeof(*why));

	if (!why) {
		http_reply_problem(call->req, 500, NULL, "out of memory");
		return;
	}
	why->api = call->api;
	why->req = call->req;
	why->caller = *call->caller;
	snprintf(why->code, sizeof(why->code), "%.*s", (int)call->name.len,
		 call->name.data);
	if (!begin_why(why, call))
		why_free(why);
}
