#include "aggregator/api/router.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/api_domains.h"
#include "aggregator/api/api_keys.h"
#include "aggregator/api/call.h"
#include "aggregator/api/export/exports.h"
#include "aggregator/api/live/live.h"
#include "aggregator/api/me.h"
#include "aggregator/api/polls.h"
#include "aggregator/api/problem.h"
#include "aggregator/api/query_ender.h"
#include "aggregator/api/reply.h"
#include "aggregator/api/shares/share_turn.h"
#include "aggregator/api/slots.h"
#include "aggregator/api/statistics/clicks_sql.h"
#include "common/clock.h"
#include "common/compress.h"
#include "common/http/cors.h"
#include "common/http/encoding.h"

/* --- routes -----------------------------------------------------------------
 */

static const struct route {
	const char *prefix;
	const char *suffix; /* NULL: exact path; else a code comes before it */
	const char *name;   /* name in metrics */
	route_fn *fn;
	const char *method; /* NULL: GET and HEAD */
	bool shared;	    /* a share may ask for it, too */
} routes[] = {
	{"/v1/clicks", NULL, "clicks", route_clicks, .shared = true},
	{"/v1/creations", NULL, "creations", route_creations, .shared = false},
	{"/v1/top", NULL, "top", route_top, .shared = true},
	{"/v1/summary", NULL, "summary", route_summary, .shared = true},
	{"/v1/links/", "/summary", "summary", route_summary, .shared = true},
	{"/v1/links/", "/history", "history", route_history, .shared = false},
	{"/v1/visit-statistics", NULL, "visit-statistics",
	 route_visit_statistics, .shared = true},
	{"/v1/pipeline", NULL, "pipeline", route_pipeline, .shared = false},
	{"/v1/links", NULL, "links", route_links, .shared = false},
	{"/v1/values", NULL, "values", route_values, .shared = false},
	{"/v1/reclaim-runs", NULL, "reclaim-runs", route_reclaim_runs,
	 .shared = false},
	{"/v1/archived-spaces", NULL, "archived-spaces", route_spaces,
	 .shared = false},
	{"/v1/reconciliation", NULL, "reconciliation", route_reconciliation,
	 .shared = false},
	{"/v1/shares", NULL, "shares", route_shares, .shared = false},
	{"/v1/shares", NULL, "shares", route_share, .method = "POST"},
	{"/v1/shares/", "", "shares", route_end_share, .method = "DELETE"},
};
#define ROUTE_COUNT (sizeof(routes) / sizeof(routes[0]))
/* The number of /v1/me, which is no route: no worker answers it. */
#define ROUTE_ME ROUTE_COUNT

/* A key gives way above so many questions at once: as many as a browser sends.
 */
#define NICE_FROM 6
/* The highest nice value.  With a lower one, four questions of one key that
 * never ended took a third of the processor beside another key's page. */
#define NICE_MOST 19

/* A request while a worker answers it. */
struct query_job {
	struct router *router;
	struct http_request *req;
	size_t route;
	struct access access; /* the caller's */
	struct share *share;  /* NULL, or the access's, which ends with it */
	struct call call;
	/* Copies: the request may be gone when a drain ends. */
	char *if_none_match; /* may be NULL */
	char *query;
	char *sent;
	struct encoding_list accepted; /* accepted by the request */
	enum encoding encoding;	       /* call.body's */
	struct clickhouse_task task;
	bool has_slot;
	int outcome;
	struct error err;
};

int router_register_metrics(struct router *router, struct metrics *metrics,
			    struct error *err)
{
	char label[64];

	router->seconds = calloc(ROUTE_COUNT, sizeof(*router->seconds));
	if (!router->seconds)
		return error_set_nomem(err);
	for (size_t i = 0; i < ROUTE_COUNT; i++) {
		snprintf(label, sizeof(label), "route=\"%s\"", routes[i].name);
		router->seconds[i] = metrics_histogram(
			metrics, "shortloop_aggregator_answer_seconds", label,
			"How long a worker took for an answer.",
			metrics_latency_bounds, metrics_latency_bound_count);
	}
	router->refused = metrics_counter(
		metrics, "shortloop_aggregator_refused_total", NULL,
		"Requests answered 503 because the queue was full, or 429 "
		"because the key had too many under way.");
	return 0;
}

static bool slice_is(struct http_slice s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.data, text, s.len);
}

static void job_free(struct query_job *job)
{
	buf_free(&job->call.body);
	field_mistakes_release(&job->call.mistakes);
	if (job->has_slot)
		slots_give_back(job->router->questions, job->access.who.name);
	free(job->if_none_match);
	free(job->query);
	free(job->sent);
	share_free(job->share);
	free(job);
}

/* The client has gone before it was answered.  A client that has only closed
 * its side looks the same. */
static void on_gone(void *arg)
{
	struct query_job *job = arg;

	query_ender_cancel(job->router->ender, &job->task);
}

/* Called by a worker, because the loop has other clients to serve meanwhile. */
static int encode_body(struct query_job *job)
{
	struct buf *body = &job->call.body, out = {0};
	/* An unchanged answer has the entity tag of the form that would be
	 * sent. */
	size_t len = body->len ? body->len : job->call.polled.len;

	if (!encoding_choose(&job->accepted, len, &job->encoding) ||
	    job->encoding == ENCODING_IDENTITY || !body->len)
		return 0;
	if (compress_append(encoding_name(job->encoding), COMPRESS_FAR,
			    body->data, body->len, &out, &job->err) < 0) {
		buf_free(&out);
		return -1;
	}
	buf_free(body);
	*body = out;
	return 0;
}

/*
 * A key with more concurrent questions than a browser sends gives way to the
 * others, the more so the more it has: fifty clients of one key leave the
 * processor to another key's page.
 */
static unsigned nice_of(int64_t held)
{
	return held <= NICE_FROM	      ? 0
	       : held < NICE_FROM + NICE_MOST ? (unsigned)(held - NICE_FROM)
					      : NICE_MOST;
}

/* Runs the route again, which is slower, if it met events that may have been
 * sent twice. */
static int run_route(struct query_job *job)
{
	struct call *call = &job->call;
	route_fn *fn = routes[job->route].fn;
	int status = fn(call, &job->err);

	if (status == 0 || !clicks_sql_met_marked(call->ch))
		return status;
	job->err = (struct error){0};
	buf_reset(&call->body);
	call->marked = true;
	return fn(call, &job->err);
}

/* Answers from memory that nothing has changed, or runs the route. */
static int answer_question(struct query_job *job)
{
	struct http_slice etags = {
		job->if_none_match,
		job->if_none_match ? strlen(job->if_none_match) : 0};
	struct poll poll;
	int status;

	polls_begin(&job->call, routes[job->route].name, &poll);
	if (polls_answer(job->router->polls, &poll, etags, &job->call))
		return 0;
	status = run_route(job);
	job->call.polled.len = job->call.body.len;
	if (status == 0)
		polls_keep(job->router->polls, &poll, &job->call);
	return status;
}

static void job_run(void *arg, unsigned index)
{
	struct query_job *job = arg;
	int64_t start = clock_monotonic_ns();

	job->task.nice = nice_of(
		slots_held(job->router->questions, job->access.who.name));

	job->call.ch = job->router->connections[index];
	clickhouse_set_task(job->call.ch, &job->task);
	job->outcome = answer_question(job);
	if (job->outcome == 0 && !job->call.status)
		job->outcome = encode_body(job);
	clickhouse_set_task(job->call.ch, NULL);
	query_ender_finish(job->router->ender, &job->task);
	metric_observe(job->router->seconds[job->route],
		       (double)(clock_monotonic_ns() - start) / 1e9);
}

static void job_done(void *arg)
{
	struct query_job *job = arg;

	if (job->outcome < 0 && atomic_load(&job->task.cancelled))
		http_reply_problem(job->req, 503, NULL, CLICKHOUSE_CANCELLED);
	else if (job->outcome < 0 && job->err.code == ERROR_INPUT &&
		 job->call.mistakes.count)
		problem_reply_mistakes(job->req, &job->call.mistakes);
	else if (job->outcome < 0)
		problem_reply(job->req, job->router->log, &job->err);
	else if (job->call.status)
		reply_once(job->req, &job->call);
	else
		reply_encoded_body(job->req,
				   job->call.csv ? "text/csv; charset=utf-8"
						 : "application/json",
				   job->call.etag, &job->call, job->encoding,
				   &job->call.body);
	job_free(job);
}

static int copy_request(struct query_job *job, struct http_request *req)
{
	struct http_slice query = http_query(req), body = http_body(req);

	job->query = strndup(query.data ? query.data : "", query.len);
	job->sent = malloc(body.len + 1);
	if (!job->query || !job->sent)
		return -1;
	if (body.len)
		memcpy(job->sent, body.data, body.len);
	job->call.query = (struct http_slice){job->query, query.len};
	job->call.sent = (struct http_slice){job->sent, body.len};
	return 0;
}

static struct query_job *job_new(struct router *router,
				 struct http_request *req, size_t route,
				 const struct access *access)
{
	struct http_slice path = http_path(req);
	struct http_slice etags = http_header_get(req, "If-None-Match");
	struct query_job *job = calloc(1, sizeof(*job));
	size_t fixed = strlen(routes[route].prefix);

	if (!job)
		return NULL;
	job->router = router;
	job->req = req;
	job->route = route;
	job->accepted = encoding_list_of(req);
	job->access = *access;
	job->call.config = router->config;
	job->call.freshness = router->freshness;
	job->call.answers = router->answers;
	job->call.redis = router->redis;
	job->call.log = router->log;
	job->call.domains = api_domains_now(router->domains);
	job->call.access = &job->access;
	query_ender_name(router->ender, &job->task);
	job->task.priority = QUESTION_PRIORITY;
	/* The deadline counts from here: questions that waited that long behind
	 * a ClickHouse that hangs are not sent any more. */
	job->task.deadline = clock_monotonic_ms() +
			     router->config->aggregator.answer_timeout;
	job->call.deadline = job->task.deadline;
	if (copy_request(job, req) < 0) {
		job_free(job);
		return NULL;
	}
	/* A poll whose ETags cannot be copied is answered in full. */
	if (etags.len)
		job->if_none_match = strndup(etags.data, etags.len);
	if (routes[route].suffix) {
		fixed += strlen(routes[route].suffix);
		snprintf(job->call.code, sizeof(job->call.code), "%.*s",
			 (int)(path.len - fixed),
			 path.data + strlen(routes[route].prefix));
	}
	return job;
}

/* Answers with a worker.  Takes over the share (NULL: the access is a key's).
 */
static void submit_question(struct router_loop *at, struct http_request *req,
			    size_t route, const struct access *access,
			    struct share *share)
{
	enum slots_answer slot;
	struct query_job *job = job_new(at->router, req, route, access);
	struct error err = {0};

	if (!job) {
		share_free(share);
		http_reply_problem(req, 503, NULL, "out of memory");
		return;
	}
	job->share = share;
	if (!encoding_choose(&job->accepted, 0, &job->encoding)) {
		problem_reply_not_acceptable(req);
		job_free(job);
		return;
	}
	slot = slots_take(at->router->questions, access->who.name);
	if (slot != SLOTS_TAKEN) {
		metric_add(at->router->refused, 1);
		problem_reply_full(req, slot, "questions");
		job_free(job);
		return;
	}
	job->has_slot = true;
	http_on_client_gone(req, on_gone, job);
	if (workers_submit_of(at->router->workers, access_turn(&job->access),
			      at->loop, job_run, job_done, job, &err) < 0) {
		metric_add(at->router->refused, 1);
		http_reply_problem(req, 503, NULL, "%s", err.text);
		job_free(job);
	}
}

/* A share_turn_fn; `arg` is a struct router_loop. */
static void on_share_admitted(void *arg, struct http_request *req,
			      struct share_entry *entry, size_t route)
{
	struct share *share = entry->share;

	if (route == ROUTE_ME) {
		me_reply_share(req, &entry->access);
		return;
	}
	entry->share = NULL;
	submit_question(arg, req, route, &entry->access, share);
}

static void begin_share_turn(struct router_loop *at, struct http_request *req,
			     size_t route)
{
	const struct router *r = at->router;
	const struct share_turn_uses uses = {.desk = r->shares,
					     .workers = r->workers,
					     .slots = r->questions,
					     .refused = r->refused,
					     .log = r->log};

	share_turn_begin(&uses, at->loop, req, on_share_admitted, at, route);
}

static bool is_readable(struct http_request *req, const struct route *r)
{
	if (!r->method || strcmp(r->method, "POST") != 0 ||
	    http_type_is(req, "application/json"))
		return true;
	http_reply_problem(req, 415, NULL,
			   "send it as Content-Type: application/json");
	return false;
}

static void start_route(struct router_loop *at, struct http_request *req,
			size_t route)
{
	struct access access;

	if (routes[route].shared && share_is_presented(req))
		begin_share_turn(at, req, route);
	else if (api_keys_admit(at->router->keys, req, &access) &&
		 is_readable(req, &routes[route]))
		submit_question(at, req, route, &access, NULL);
}

static bool route_matches(const struct route *r, struct http_slice path)
{
	size_t prefix = strlen(r->prefix);
	size_t suffix = r->suffix ? strlen(r->suffix) : 0;

	if (!r->suffix)
		return slice_is(path, r->prefix);
	return path.len > prefix + suffix &&
	       !memcmp(path.data, r->prefix, prefix) &&
	       !memcmp(path.data + path.len - suffix, r->suffix, suffix);
}

static void reply_static(struct http_request *req,
			 const struct static_file *file)
{
	struct encoding_list accepted = encoding_list_of(req);
	enum encoding encoding;

	if (static_file_choose(file, &accepted, &encoding))
		reply_encoded_body(req, file->type, file->etag, NULL, encoding,
				   &file->forms[encoding]);
	else
		problem_reply_not_acceptable(req);
}

static void reply_file(struct router *router, struct http_request *req)
{
	struct http_slice path = http_path(req);
	const struct static_file *file = static_files_find(router->files, path);

	if (file)
		reply_static(req, file);
	else if (slice_is(path, "/"))
		http_reply_problem(req, 404, NULL,
				   "the dashboard's files are not in "
				   "aggregator.web_root (%s)",
				   router->config->aggregator.web_root);
	else
		http_reply_problem(req, 404, NULL,
				   "there is nothing at this address; "
				   "/openapi.json lists what there is");
}

static struct cors cors_of(const struct router *router)
{
	return (struct cors){
		.origins = &router->config->aggregator.cors_origins,
		.methods = "GET, HEAD, POST, DELETE",
		.headers = "Authorization, Content-Type, If-None-Match, "
			   "Share-Password",
		.exposed = "ETag, Retry-After, Complete-Until, Complete, "
			   "Waiting, Unique-Error, Approximate, Lower-Bound",
	};
}

static bool is_read(const struct http_request *req)
{
	return http_method_is(req, "GET") || http_method_is(req, "HEAD");
}

static bool method_matches(const struct http_request *req,
			   const struct route *r)
{
	return r->method ? http_method_is(req, r->method) : is_read(req);
}

/* The methods of a path, for Allow; a path that is no route's is read. */
static void list_methods(struct http_slice path, char ret[64])
{
	size_t n = 0;

	*ret = '\0';
	for (size_t i = 0; i < ROUTE_COUNT; i++) {
		const char *method = routes[i].method;

		if (route_matches(&routes[i], path))
			n += (size_t)snprintf(ret + n, 64 - n, "%s%s",
					      n ? ", " : "",
					      method ? method : "GET, HEAD");
	}
	if (!n)
		snprintf(ret, 64, "GET, HEAD");
}

static void refuse_method(struct http_request *req, const char *methods)
{
	const struct http_field allow[] = {{"Allow", methods}, {NULL, NULL}};

	http_reply_problem(req, 405, allow, "only %s %s answered here", methods,
			   strchr(methods, ',') ? "are" : "is");
}

void router_handle(struct http_request *req, void *arg)
{
	struct router_loop *at = arg;
	struct http_slice path = http_path(req);
	const struct cors cors = cors_of(at->router);
	char methods[64];

	if (cors_preflight(&cors, req))
		return;
	for (size_t i = 0; i < ROUTE_COUNT; i++) {
		if (route_matches(&routes[i], path) &&
		    method_matches(req, &routes[i])) {
			start_route(at, req, i);
			return;
		}
	}
	list_methods(path, methods);
	if (!is_read(req) || !strstr(methods, "GET"))
		refuse_method(req, methods);
	else if (slice_is(path, "/v1/me") && share_is_presented(req))
		begin_share_turn(at, req, ROUTE_ME);
	else if (slice_is(path, "/v1/me"))
		me_handle(at->router->keys, req);
	else if (slice_is(path, "/openapi.json"))
		reply_static(req, &at->router->openapi);
	else
		reply_file(at->router, req);
}

bool router_streams(const struct http_request *req, void *arg)
{
	(void)arg;
	return exports_choose(req) || live_choose(req);
}

void router_stream(struct http_request *req, void *arg)
{
	struct router_loop *at = arg;

	if (live_choose(req))
		live_handle(at->live, req);
	else
		exports_handle(at->router->exports, at->loop, req);
}

void router_put_fields(const struct http_request *req, struct buf *lines,
		       void *arg)
{
	const struct router_loop *at = arg;
	const struct cors cors = cors_of(at->router);

	cors_put_fields(&cors, req, lines);
}
