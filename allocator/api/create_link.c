/* POST /v1/links: reads the request, creates the link, answers 201. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/api/api_reply.h"
#include "allocator/api/handlers.h"
#include "allocator/create/create.h"
#include "allocator/create/idempotency.h"

/* A request in progress. */
struct creating {
	struct api_context *api;
	struct http_request *req;
	struct link_request request;
	struct api_key_info caller;
	struct audit_source source;
	struct http_slice key; /* Idempotency-Key */
};

static void creating_free(struct creating *c)
{
	link_request_release(&c->request);
	free(c);
}

static void reply_created(struct creating *c,
			  const struct creation_result *result)
{
	const struct link_view view = {
		.base_url = link_view_base_url(&c->api->defaults->rules,
					       result->link),
		.space = result->space->name,
		.code = result->code,
		.link = result->link,
		.expires = result->expires,
	};
	char location[128];

	snprintf(location, sizeof(location), "/v1/links/%s", view.code);
	api_reply_link(c->api, c->req, result->status, location,
		       result->replayed, &view);
}

static void on_done(void *arg, const struct creation_result *result)
{
	struct creating *c = arg;
	char retry_after[16];
	const struct http_field fields[] = {
		{result->retry_after ? "Retry-After" : NULL, retry_after}, {0}};

	snprintf(retry_after, sizeof(retry_after), "%u", result->retry_after);
	if (result->link)
		reply_created(c, result);
	else
		http_reply_typed_problem(c->req, result->status, result->type,
					 fields, result->detail);
	creating_free(c);
}

/* Answers the request and returns false if it cannot be carried out. */
static bool read_request(struct creating *c)
{
	struct metric *invalid = c->api->creation.metrics->invalid;
	struct error err = {0};

	c->key = http_header_get(c->req, "Idempotency-Key");
	if (c->key.data && !idempotency_key_is_valid(c->key)) {
		metric_add(invalid, 1);
		http_reply_problem(c->req, 400, NULL, IDEMPOTENCY_KEY_EXPECTED);
		return false;
	}
	if (!http_type_is(c->req, "application/json")) {
		metric_add(invalid, 1);
		http_reply_problem(c->req, 415, NULL,
				   "send the link as Content-Type: "
				   "application/json");
		return false;
	}
	if (link_request_parse(&c->request, c->api->defaults, &c->caller,
			       http_body(c->req), &err) < 0) {
		bool denied = err.code == ERROR_NOT_OWNER;

		metric_add(denied ? c->api->creation.metrics->denied : invalid,
			   1);
		api_reply_mistakes(c->req, &err, &c->request.fields.mistakes,
				   "");
		return false;
	}
	return true;
}

void handle_create(const struct api_call *call)
{
	struct creating *c = calloc(1, sizeof(*c));
	struct creation_order order;

	if (!c) {
		http_reply_problem(call->req, 500, NULL, "out of memory");
		return;
	}
	c->api = call->api;
	c->req = call->req;
	c->caller = *call->caller;
	c->source = audit_source_of(call->req, c->caller.name);
	if (!read_request(c)) {
		creating_free(c);
		return;
	}
	order = (struct creation_order){.request = &c->request,
					.caller = &c->caller,
					.key = c->key,
					.body = http_body(call->req),
					.source = &c->source};
	create_link(&call->api->creation, &order, on_done, c);
}
