/* PATCH and DELETE /v1/links/{code} and POST /v1/links/{code}/restore:
 * allocator/change/link_changer.h, with If-Match as the expectation. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/api/api_reply.h"
#include "allocator/api/handlers.h"
#include "common/http/encoding.h"
#include "common/http/url.h"

struct changing {
	struct api_context *api;
	struct http_request *req;
	char key[API_KEY_NAME_MAX];
	struct audit_source source;
	struct link_patch patch; /* released at the end; zeroed: none */
};

static void changing_free(struct changing *c)
{
	link_patch_release(&c->patch);
	free(c);
}

/* Returns whether If-Match, which may have several lines, allows the change. */
static bool if_match_allows(const void *arg, const Shortloop__Link *link,
			    const char *tag)
{
	const struct http_request *req = arg;
	struct http_slice line;
	size_t at = 0;
	bool given = false;

	(void)link;
	while (http_header_next(req, "If-Match", &at, &line)) {
		if (encoding_etag_is_one_of(line, tag))
			return true;
		given = true;
	}
	return !given;
}

static void reply_changed(struct changing *c,
			  const struct change_result *result)
{
	const struct link_view view = {
		.base_url = link_view_base_url(&c->api->defaults->rules,
					       result->link),
		.space = result->space->name,
		.code = result->code,
		.link = result->link,
		.expires = result->expires,
	};

	if (result->deletes)
		http_reply(c->req, 204, NULL, NULL, 0);
	else
		api_reply_link(c->api, c->req, 200, NULL, false, &view);
}

static void on_changed(void *arg, const struct change_result *result)
{
	struct changing *c = arg;
	char retry_after[24];
	const struct http_field fields[] = {
		{result->retry_after ? "Retry-After" : NULL, retry_after}, {0}};

	snprintf(retry_after, sizeof(retry_after), "%" PRId64,
		 result->retry_after);
	if (result->status == 200)
		reply_changed(c, result);
	else
		http_reply_typed_problem(c->req, result->status, result->type,
					 fields, result->detail);
	changing_free(c);
}

static struct changing *changing_new(const struct api_call *call)
{
	struct changing *c = calloc(1, sizeof(*c));

	if (!c) {
		http_reply_problem(call->req, 500, NULL, "out of memory");
		return NULL;
	}
	c->api = call->api;
	c->req = call->req;
	memcpy(c->key, call->caller->name, sizeof(c->key));
	c->source = audit_source_of(call->req, c->key);
	return c;
}

/* `order` has what is to be done. */
static void begin_change(struct changing *c, const struct api_call *call,
			 struct change_order order)
{
	order.code = call->name;
	order.caller = call->caller;
	order.source = &c->source;
	order.is_expected = if_match_allows;
	order.expected = c->req;
	link_changer_change(c->api->changer, &order, on_changed, c);
}

/* --- DELETE and restore --------------------------------------------------- */

static int read_purge(const struct url_params *params, bool *ret_purges,
		      struct error *err)
{
	*ret_purges = false;
	for (size_t i = 0; i < params->count; i++) {
		const char *value = params->items[i].value;

		if (strcmp(params->items[i].key, "purge") != 0)
			return error_set(err, ERROR_INPUT,
					 "%.64s: is not a parameter; known is "
					 "purge",
					 params->items[i].key);
		if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
			return error_set(err, ERROR_INPUT,
					 "purge: expected true or false");
		*ret_purges = !strcmp(value, "true");
	}
	return 0;
}

static int read_delete_query(const struct http_request *req, bool *ret_purges,
			     struct error *err)
{
	struct url_params params;
	int status = url_params_parse(&params, http_query(req), err);

	if (status == 0)
		status = read_purge(&params, ret_purges, err);
	url_params_free(&params);
	return status;
}

void handle_delete(const struct api_call *call)
{
	struct changing *c;
	struct error err;
	bool purges = false;

	if (read_delete_query(call->req, &purges, &err) < 0) {
		http_reply_problem(call->req, 400, NULL, "%s", err.text);
		return;
	}
	c = changing_new(call);
	if (c)
		begin_change(c, call, (struct change_order){.purges = purges});
}

void handle_restore(const struct api_call *call)
{
	struct changing *c = changing_new(call);

	if (c)
		begin_change(c, call, (struct change_order){.restores = true});
}

/* --- PATCH ---------------------------------------------------------------- */

static bool is_merge_patch(const struct http_request *req)
{
	return http_type_is(req, "application/merge-patch+json") ||
	       http_type_is(req, "application/json");
}

void handle_patch(const struct api_call *call)
{
	struct changing *c;
	struct error err;

	if (!is_merge_patch(call->req)) {
		http_reply_problem(call->req, 415, NULL,
				   "send the change as Content-Type: "
				   "application/merge-patch+json");
		return;
	}
	c = changing_new(call);
	if (!c)
		return;
	if (link_patch_parse(&c->patch, &call->api->defaults->rules,
			     http_body(call->req), &err) == 0) {
		begin_change(c, call,
			     (struct change_order){.patch = &c->patch});
		return;
	}
	api_reply_mistakes(call->req, &err, &c->patch.fields.mistakes, "");
	changing_free(c);
}
