/* GET /v1/links/{code}: the link as Redis has it. */
#include <stdlib.h>

#include "allocator/api/handlers.h"
#include "common/clock.h"
#include "linkstore/block/lookup.h"

struct reading {
	struct api_parts *api;
	struct http_request *req;
	struct link_target target;
};

static void reply_unknown(struct api_parts *api, struct http_request *req)
{
	metric_add(api->metrics->unknown, 1);
	http_reply_problem(req, 404, NULL, "there is no link with this code");
}

static void reply_gone(struct reading *r, const struct link_answer *answer)
{
	metric_add(r->api->metrics->gone, 1);
	http_reply_problem(r->req, 410, NULL,
			   answer->link ? "this link was deleted"
					: "the link with this code has "
					  "expired");
}

static void reply_found(struct reading *r, const struct link_answer *answer)
{
	const struct link_view view = {
		.base_url = r->api->base_url,
		.space = r->target.space->name,
		.code = r->target.code,
		.link = answer->link,
		.expires = answer->ttl_left == DURATION_NEVER
				   ? DURATION_NEVER
				   : clock_real_ms() + answer->ttl_left,
	};

	metric_add(r->api->metrics->found, 1);
	reply_link(r->api, r->req, 200, NULL, &view);
}

static void reply_failed(struct api_parts *api, struct http_request *req,
			 const struct error *err)
{
	metric_add(api->metrics->read_failed, 1);
	reply_unavailable(req, err->text);
}

static void on_answer(void *arg, const struct link_answer *answer,
		      const struct error *err)
{
	struct reading *r = arg;

	if (err)
		reply_failed(r->api, r->req, err);
	else if (answer->outcome == LINK_OUTCOME_UNKNOWN)
		reply_unknown(r->api, r->req);
	else if (answer->outcome == LINK_OUTCOME_GONE || !answer->link)
		reply_gone(r, answer);
	else
		reply_found(r, answer);
	free(r);
}

void read_link(struct api_parts *api, struct http_request *req,
	       struct http_slice code)
{
	struct reading *r = calloc(1, sizeof(*r));
	struct error err = {0};

	if (!r) {
		http_reply_problem(req, 500, NULL, "out of memory");
		return;
	}
	r->api = api;
	r->req = req;
	if (!linkstore_locate(api->defaults.store, code.data, code.len,
			      &r->target))
		reply_unknown(api, req);
	else if (link_lookup_async(api->redis, &r->target, on_answer, r,
				   &err) == 0)
		return;
	else
		reply_failed(api, req, &err);
	free(r);
}
