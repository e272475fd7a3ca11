#include "allocator/api/find_link.h"

#include "allocator/api/api_reply.h"
#include "allocator/link/link_whose.h"

static void reply_unknown(struct api_context *api, struct http_request *req)
{
	metric_add(api->metrics->unknown, 1);
	http_reply_problem(req, 404, NULL, "there is no link with this code");
}

static void reply_failed(struct api_context *api, struct http_request *req,
			 const struct error *err)
{
	metric_add(api->metrics->read_failed, 1);
	api_reply_failure(api, req, err);
}

static void reply_not_located(struct api_context *api,
			      const struct api_call *call,
			      const struct linkstore *store)
{
	if (linkstore_lacks_key(store, call->name.data, call->name.len)) {
		metric_add(api->metrics->read_failed, 1);
		api_reply_unavailable(
			call->req, "this code is of a key version that is not "
				   "configured here");
	} else {
		reply_unknown(api, call->req);
	}
}

int find_link(const struct api_call *call, struct link_target *ret_target,
	      link_lookup_fn *fn, void *arg)
{
	struct api_context *api = call->api;
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

/* Returns whether the caller may know what was found. */
static bool is_known_to(const struct api_key_info *caller,
			const struct link_answer *answer)
{
	struct key_link whose;

	if (answer->outcome == LINK_OUTCOME_UNKNOWN)
		return false;
	if (!answer->link)
		return key_may(caller, KEY_READS_ALL, NULL);
	whose = link_whose(answer->link);
	return key_may(caller, KEY_SEES_LINK, &whose);
}

bool find_link_refuse(struct api_context *api, struct http_request *req,
		      const struct api_key_info *caller,
		      const struct link_answer *answer, const struct error *err)
{
	if (err) {
		reply_failed(api, req, err);
	} else if (!is_known_to(caller, answer)) {
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
