#include "allocator/api/find_link.h"

#include "allocator/api/api_reply.h"
#include "allocator/link/link_finding.h"

void find_link_reply_failed(struct api_context *api, struct http_request *req,
			    const struct error *err)
{
	metric_add(api->metrics->reads.failed, 1);
	api_reply_failure(api, req, err);
}

/* Returns whether there was a refusal, which has been answered then. */
static bool answer_refusal(struct api_context *api, struct http_request *req,
			   struct link_refusal refusal)
{
	if (!refusal.status)
		return false;
	link_finding_count(&api->metrics->reads, refusal.status);
	http_reply_problem(req, refusal.status, NULL, "%s", refusal.detail);
	return true;
}

void find_link_reply_unknown(struct api_context *api, struct http_request *req)
{
	answer_refusal(api, req, link_finding_unknown());
}

void find_link_reply_not_located(const struct api_call *call)
{
	struct link_target ignored;

	answer_refusal(call->api, call->req,
		       link_finding_locate(call->api->defaults->rules.store,
					   call->name, &ignored));
}

int find_link(const struct api_call *call, struct link_target *ret_target,
	      link_lookup_fn *fn, void *arg)
{
	struct api_context *api = call->api;
	struct error err = {0};

	if (answer_refusal(api, call->req,
			   link_finding_locate(api->defaults->rules.store,
					       call->name, ret_target)))
		return -1;
	if (link_lookup_async(api->creation.redis, ret_target, fn, arg, &err) ==
	    0)
		return 0;
	find_link_reply_failed(api, call->req, &err);
	return -1;
}

bool find_link_refuse(struct api_context *api, struct http_request *req,
		      const struct api_key_info *caller,
		      const struct link_answer *answer, const struct error *err)
{
	if (!err)
		return answer_refusal(api, req,
				      link_finding_refuse(caller, answer));
	find_link_reply_failed(api, req, err);
	return true;
}
