/* GET /v1/links/{code}: the link as Redis has it; and the look-up before every
 * change. */
#include <stdlib.h>

#include "allocator/api/handlers.h"
#include "linkstore/target.h"

static void reply_unknown(struct api_parts *api, struct http_request *req)
{
	metric_add(api->metrics->unknown, 1);
	http_reply_problem(req, 404, NULL, "there is no link with this code");
}

static void reply_failed(struct api_parts *api, struct http_request *req,
			 const struct error *err)
{
	metric_add(api->metrics->read_failed, 1);
	api_reply_failure(api, req, err);
}

static void reply_not_located(struct api_parts *api,
			      const struct api_call *call,
			      const struct linkstore *store)
{
	if (linkstore_lacks_key(store, call->name.data, call->name.len)) {
		metric_add(api->metrics->read_failed, 1);
		reply_unavailable(call->req,
				  "this code is of a key version that is not "
				  "configured here");
	} else {
		reply_unknown(api, call->req);
	}
}

int api_find_link(const struct api_call *call, struct link_target *ret_target,
		  link_lookup_fn *fn, void *arg)
{
	struct api_parts *api = call->api;
	const struct linkstore *store = api->defaults->rules.store;
	struct error err = {0};

	if (!linkstore_locate(store, call->name.data, call->name.len,
			      ret_target))
		reply_not_located(api, call, store);
	else if (link_lookup_async(api->creation.redis, ret_target, fn, arg,
				   &err) == 0)
		return 0;
	else
		reply_failed(api, call->req, &err);
	return -1;
}

bool api_refuse_missing(struct api_parts *api, struct http_request *req,
			const struct link_answer *answer,
			const struct error *err)
{
	if (err) {
		reply_failed(api, req, err);
	} else if (answer->outcome == LINK_OUTCOME_UNKNOWN) {
		reply_unknown(api, req);
	} else if (answer->outcome == LINK_OUTCOME_GONE || !answer->link) {
		metric_add(api->metrics->gone, 1);
		http_reply_problem(req, 410, NULL,
				   answer->link ? "this link was deleted"
						: "the link with this code has "
						  "expired");
	} else {
		return false;
	}
	return true;
}

bool api_refuse_foreign(struct api_parts *api, struct http_request *req,
			const struct api_key_info *caller,
			const Shortloop__Link *link)
{
	if (api_keyring_may_read(api->keys, caller, link))
		return false;
	http_reply_problem(req, 403, NULL,
			   "this link belongs to another account: it takes an "
			   "API key of that one, or one with the role 'read'");
	return true;
}

struct reading {
	struct api_parts *api;
	struct http_request *req;
	struct api_key_info caller;
	struct link_target target;
};

static void on_answer(void *arg, const struct link_answer *answer,
		      const struct error *err)
{
	struct reading *r = arg;

	if (!api_refuse_missing(r->api, r->req, answer, err) &&
	    !api_refuse_foreign(r->api, r->req, &r->caller, answer->link)) {
		const struct link_view view = {
			.base_url = link_view_base_url(&r->api->defaults->rules,
						       answer->link),
			.space = r->target.space->name,
			.code = r->target.code,
			.link = answer->link,
			.expires = link_view_expires(answer->ttl_left),
		};

		metric_add(r->api->metrics->found, 1);
		reply_link(r->api, r->req, 200, NULL, false, &view);
	}
	free(r);
}

void handle_read(const struct api_call *call)
{
	struct reading *r = calloc(1, sizeof(*r));

	if (!r) {
		http_reply_problem(call->req, 500, NULL, "out of memory");
		return;
	}
	r->api = call->api;
	r->req = call->req;
	r->caller = *call->caller;
	if (api_find_link(call, &r->target, on_answer, r) < 0)
		free(r);
}
