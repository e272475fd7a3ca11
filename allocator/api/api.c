#include "allocator/api/api.h"

#include <string.h>

#include "allocator/api/handlers.h"
#include "common/http/cors.h"
#include "common/keys/key_check.h"
#include "common/yaml_json.h"

void api_metrics_register(struct api_metrics *am, struct metrics *m)
{
	link_finding_metrics_register(&am->reads, m);
	change_metrics_register(&am->changes, m);
}

int api_start(struct api_context *api, struct error *err)
{
	const struct link_changer_options options = {
		.loop = api->loop,
		.creation = &api->creation,
		.rules = &api->defaults->rules,
		.metrics = &api->metrics->changes,
		.reads = &api->metrics->reads,
	};

	api->changer = link_changer_new(&options, err);
	api->batches.changer = api->changer;
	return api->changer ? 0 : -1;
}

void api_end(struct api_context *api)
{
	link_changer_stop(api->changer);
}

void api_free(struct api_context *api)
{
	link_changer_free(api->changer);
	buf_free(&api->answer);
}

/* --- the description of the API ------------------------------------------- */

static const char yaml[] =
#include "schemas/openapi/allocator.yaml.inc"
	;

int api_write_openapi(struct buf *out, struct error *err)
{
	return yaml_to_json(yaml, out, err);
}

static void handle_openapi(const struct api_call *call)
{
	/* Any page may read it; of those in cors_origins, api_put_fields says
	 * so. */
	bool listed = call->api->cors_origins->count > 0;
	const struct http_field fields[] = {
		{"Content-Type", "application/json"},
		{"Cache-Control", "no-cache"},
		{listed ? NULL : "Access-Control-Allow-Origin", "*"},
		{0}};

	http_reply(call->req, 200, fields, call->api->openapi->data,
		   call->api->openapi->len);
}

/* --- pages of other origins ------------------------------------------------
 */

static struct cors cors_of(const struct api_context *api)
{
	return (struct cors){
		.origins = api->cors_origins,
		.methods = "GET, HEAD, POST, PATCH, DELETE",
		.headers = "Authorization, Content-Type, If-Match, "
			   "If-None-Match, Idempotency-Key",
		.exposed = "ETag, Location, Retry-After, RateLimit, "
			   "RateLimit-Policy, Idempotency-Replayed",
	};
}

void api_put_fields(const struct http_request *req, struct buf *lines,
		    void *arg)
{
	const struct cors cors = cors_of(arg);

	cors_put_fields(&cors, req, lines);
}

/* --- routes --------------------------------------------------------------- */

#define ACTIONS_MAX 3
#define BATCH_PATH  "/v1/links/batch"
#define EDIT_PATH   "/v1/links/edit"
/* Bytes of a body other than a batch's: the same limit as for a line of a
 * batch. */
#define BODY_MAX BATCH_LINE_MAX

struct action {
	const char *method;
	unsigned role; /* enum api_role; 0: no role is needed */
	api_handler *handle;
	bool query;    /* the handler reads the query string */
	unsigned cost; /* the price; a batch, or an edit of many, pays by the
			  line */
};

/* The path of a resource is `head`, or `head`, a name and `tail`. */
struct route {
	const char *head;
	const char *tail; /* NULL: no name */
	const char *allow;
	struct action actions[ACTIONS_MAX + 1];
};

static const struct route routes[] = {
	{"/v1/links",
	 NULL,
	 "POST",
	 {{"POST", API_CREATE, handle_create, false, 1}}},
	{BATCH_PATH,
	 NULL,
	 "POST",
	 {{"POST", API_CREATE, handle_batch, false, 0}}},
	{EDIT_PATH, NULL, "POST", {{"POST", API_CREATE, handle_edit, true, 0}}},
	{"/v1/links/",
	 "",
	 "GET, HEAD, PATCH, DELETE",
	 {{"GET", API_READ, handle_read, false, 1},
	  {"PATCH", API_CREATE, handle_patch, false, 1},
	  {"DELETE", API_CREATE, handle_delete, true, 1}}},
	{"/v1/links/",
	 "/restore",
	 "POST",
	 {{"POST", API_CREATE, handle_restore, false, 1}}},
	{"/v1/links/",
	 "/qr",
	 "GET, HEAD",
	 {{"GET", API_READ, handle_qr, true, 1}}},
	{"/v1/links/",
	 "/why",
	 "GET, HEAD",
	 {{"GET", API_READ, handle_why, true, 1}}},
	{"/v1/accounts/",
	 "/blocked-urls",
	 "GET, HEAD, POST, DELETE",
	 {{"GET", API_ADMIN, handle_blocked_urls, true, 1},
	  {"POST", API_ADMIN, handle_block_url, false, 1},
	  {"DELETE", API_ADMIN, handle_lift_url, true, 1}}},
	{"/v1/spaces",
	 NULL,
	 "GET, HEAD",
	 {{"GET", API_READ_ALL, handle_spaces, false, 1}}},
	{"/v1/spaces/",
	 "",
	 "GET, HEAD",
	 {{"GET", API_READ_ALL, handle_space, false, 1}}},
	{"/v1/me",
	 NULL,
	 "GET, HEAD",
	 {{"GET", API_ANY_ROLE, handle_me, false, 1}}},
	{"/v1/options",
	 NULL,
	 "GET, HEAD",
	 {{"GET", API_ANY_ROLE, handle_options, false, 1}}},
	{"/openapi.json",
	 NULL,
	 "GET, HEAD",
	 {{"GET", 0, handle_openapi, false, 0}}},
};

static bool route_matches(const struct route *route, struct http_slice path,
			  struct http_slice *ret_name)
{
	size_t head = strlen(route->head), tail;

	if (path.len < head || memcmp(path.data, route->head, head) != 0)
		return false;
	path.data += head;
	path.len -= head;
	*ret_name = path;
	if (!route->tail)
		return path.len == 0;
	tail = strlen(route->tail);
	if (path.len <= tail ||
	    memcmp(path.data + path.len - tail, route->tail, tail) != 0)
		return false;
	ret_name->len -= tail;
	return !memchr(ret_name->data, '/', ret_name->len);
}

static const struct action *action_for(const struct route *route,
				       const struct http_request *req)
{
	for (const struct action *a = route->actions; a->method; a++) {
		if (http_method_is(req, a->method) ||
		    (http_method_is(req, "HEAD") && !strcmp(a->method, "GET")))
			return a;
	}
	return NULL;
}

/* --- dispatch ------------------------------------------------------------- */

static bool refuse_query(struct http_request *req)
{
	struct http_slice query = http_query(req);
	const char *end;

	if (query.len == 0)
		return false;
	end = memchr(query.data, '=', query.len);
	http_reply_problem(req, 400, NULL,
			   "'%.*s' is not a query parameter of this resource; "
			   "it has none",
			   (int)(end ? end - query.data : (long)query.len),
			   query.data);
	return true;
}

static void refuse_method(struct http_request *req, const char *allow)
{
	const struct http_field fields[] = {{"Allow", allow}, {0}};

	http_reply_problem(req, 405, fields,
			   "this resource understands %s only", allow);
}

static void refuse_path(struct http_request *req)
{
	http_reply_problem(req, 404, NULL,
			   "there is nothing here; /openapi.json lists what "
			   "there is");
}

static const struct route *route_for(const struct http_request *req,
				     struct http_slice *ret_name)
{
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		if (route_matches(&routes[i], http_path(req), ret_name))
			return &routes[i];
	}
	return NULL;
}

/* Finds the action that the request names.  Returns NULL if there is no such
 * resource or method, or if the caller may not use it; the request has been
 * answered then.  `pays`: takes the action's cost from the key's rate. */
static const struct action *find_action(struct api_context *api,
					struct http_request *req, bool pays,
					struct api_key_info *ret_caller,
					struct http_slice *ret_name)
{
	const struct route *route = route_for(req, ret_name);
	const struct action *action = route ? action_for(route, req) : NULL;

	if (!route) {
		refuse_path(req);
	} else if (!action) {
		refuse_method(req, route->allow);
	} else if (action->role &&
		   !key_check(api->keys, req, action->role,
			      pays ? action->cost : 0, ret_caller)) {
		if (action->role == API_CREATE)
			metric_add(api->creation.metrics->denied, 1);
		return NULL;
	}
	return action;
}

bool api_admit(struct http_request *req, size_t *body_max, void *arg)
{
	struct api_key_info caller;
	struct http_slice name;

	if (*body_max > BODY_MAX)
		*body_max = BODY_MAX;
	return find_action(arg, req, false, &caller, &name) != NULL;
}

bool api_streams(const struct http_request *req, void *arg)
{
	(void)arg;
	return http_method_is(req, "POST") &&
	       (http_slice_is(http_path(req), BATCH_PATH) ||
		http_slice_is(http_path(req), EDIT_PATH));
}

void api_handle(struct http_request *req, void *arg)
{
	struct api_key_info caller;
	struct api_call call = {arg, req, &caller, {0}};
	const struct cors cors = cors_of(arg);
	const struct action *action;

	if (cors_preflight(&cors, req))
		return;
	action = find_action(arg, req, true, &caller, &call.name);
	if (action && (action->query || !refuse_query(req)))
		action->handle(&call);
}
