/* GET /v1/links/{code}: the link as stored in Redis. */
#include <stdlib.h>

#include "allocator/api/api_reply.h"
#include "allocator/api/find_link.h"
#include "allocator/api/handlers.h"
#include "common/http/encoding.h"
#include "linkstore/target.h"

struct link_reading {
	struct api_context *api;
	struct http_request *req;
	struct api_key_info caller;
	struct link_target target;
};

/* The tag follows the version: a visit moves expires_at but keeps the tag. */
static bool reply_not_modified(struct http_request *req,
			       const Shortloop__Link *link)
{
	char tag[LINK_ETAG_MAX];
	const struct http_field fields[] = {
		{"ETag", tag}, {"Cache-Control", "no-store"}, {0}};

	if (!encoding_etag_matches(http_header_get(req, "If-None-Match"),
				   link_view_etag(link, tag)))
		return false;
	http_reply(req, 304, fields, NULL, 0);
	return true;
}

static void on_answer(void *arg, const struct link_answer *answer,
		      const struct error *err)
{
	struct link_reading *r = arg;

	if (!find_link_refuse(r->api, r->req, &r->caller, answer, err)) {
		const struct link_view view = {
			.base_url = link_view_base_url(&r->api->defaults->rules,
						       answer->link),
			.space = r->target.space->name,
			.code = r->target.code,
			.link = answer->link,
			.expires = link_view_expires(answer->ttl_left),
		};

		metric_add(r->api->metrics->reads.found, 1);
		if (!reply_not_modified(r->req, answer->link))
			api_reply_link(r->api, r->req, 200, NULL, false, &view);
	}
	free(r);
}

void handle_read(const struct api_call *call)
{
	struct link_reading *r = calloc(1, sizeof(*r));

	if (!r) {
		http_reply_problem(call->req, 500, NULL, "out of memory");
		return;
	}
	r->api = call->api;
	r->req = call->req;
	r->caller = *call->caller;
	if (find_link(call, &r->target, on_answer, r) < 0)
		free(r);
}
