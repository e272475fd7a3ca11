#include "aggregator/api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/answer_cache.h"
#include "aggregator/api/api_domains.h"
#include "aggregator/api/api_keys.h"
#include "aggregator/api/call.h"
#include "aggregator/api/export/exports.h"
#include "aggregator/api/links/redis_links.h"
#include "aggregator/api/live/live.h"
#include "aggregator/api/me.h"
#include "aggregator/api/openapi.h"
#include "aggregator/api/polls.h"
#include "aggregator/api/problem.h"
#include "aggregator/api/query_ender.h"
#include "aggregator/api/shares/share_turn.h"
#include "aggregator/api/slots.h"
#include "aggregator/api/static_files.h"
#include "aggregator/api/statistics/clicks_sql.h"
#include "common/clickhouse/clickhouse.h"
#include "common/clock.h"
#include "common/compress.h"
#include "common/http/cors.h"
#include "common/http/encoding.h"
#include "common/http/http_server.h"
#include "common/http/serving_thread.h"
#include "common/http/stream.h"
#include "common/loop/workers.h"
#include "common/yaml_json.h"

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

/* The state that all requests share.  It is only read once the listeners run.
 */
struct router {
	const struct aggregator_config *config;
	struct clickhouse_config hasty; /* for the workers' connections */
	struct log *log;
	struct api_keyring *keys;   /* NULL: every caller may ask */
	struct static_files *files; /* NULL: no dashboard */
	struct static_file openapi;
	struct workers *workers;
	struct freshness *freshness;
	struct live *live;
	struct clickhouse **connections; /* one per worker */
	struct answer_cache *answers;
	struct polls *polls;
	struct redis_links *redis; /* NULL: no spaces are configured */
	struct share_desk *shares; /* NULL: there are no shares */
	struct api_domains *domains;
	struct query_ender *ender;
	struct slots *questions;
	struct exports *exports;
	struct metric *seconds[ROUTE_COUNT];
	struct metric *refused;
};

/* The argument of a handler: the loop on which its requests are answered. */
struct router_loop {
	struct router *router;
	struct loop *loop;
	struct live_loop *live;
};

/* Nothing from other origins, nothing inline.  The chart library sets style
 * attributes through the DOM, which needs no permission. */
#define CSP                                                                    \
	"default-src 'none'; script-src 'self'; style-src 'self'; "            \
	"img-src 'self' data:; connect-src 'self'; base-uri 'none'; "          \
	"form-action 'none'; frame-ancestors 'none'"

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

static void router_register_metrics(struct router *router,
				    struct metrics *metrics)
{
	char label[64];

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
}

static bool slice_is(struct http_slice s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.data, text, s.len);
}

#define FIELDS_MAX 16

/* A list of header fields, ended by a NULL. */
struct field_list {
	struct http_field items[FIELDS_MAX + 1];
	size_t count;
};

static void add_field(struct field_list *list, const char *name,
		      const char *value)
{
	if (value && *value && list->count < FIELDS_MAX)
		list->items[list->count++] = (struct http_field){name, value};
}

/* Adds what stays beside counts that have not changed. */
static void add_fields_of_answer(struct field_list *list,
				 const struct call *call)
{
	const struct csv_quality *quality = &call->quality;
	const struct completeness *completeness = &call->completeness;
	bool exact = !strcmp(quality->unique_error, "0");

	add_field(list, "Complete-Until", completeness->until);
	add_field(list, "Complete", completeness->complete);
	add_field(list, "Waiting", completeness->waiting);
	if (!*quality->unique_error)
		return;
	add_field(list, "Unique-Error", quality->unique_error);
	add_field(list, "Approximate", exact ? "false" : "true");
	add_field(list, "Lower-Bound", quality->lower_bound ? "true" : "false");
}

/* `body` is encoded already; `etag` is that of the identity.  `call` is NULL
 * for a file. */
static void reply_encoded_body(struct http_request *req, const char *type,
			       const char *etag, const struct call *call,
			       enum encoding encoding, const struct buf *body)
{
	char text[ENCODING_ETAG_MAX];
	struct field_list list = {.count = 0};

	add_field(&list, "ETag", encoding_etag(encoding, etag, text));
	add_field(&list, "Vary", "Accept-Encoding");
	add_field(&list, "Cache-Control", "no-cache");
	add_field(&list, "X-Content-Type-Options", "nosniff");
	add_field(&list, "Referrer-Policy", "no-referrer");
	add_field(&list, "Content-Security-Policy", CSP);
	if (call)
		add_fields_of_answer(&list, call);
	if (encoding_etag_matches(http_header_get(req, "If-None-Match"),
				  etag)) {
		http_reply(req, 304, list.items, NULL, 0);
		return;
	}
	add_field(&list, "Content-Type", type);
	if (encoding != ENCODING_IDENTITY)
		add_field(&list, "Content-Encoding", encoding_name(encoding));
	http_reply(req, 200, list.items, body->data, body->len);
}

/* A change, or an answer that is given once. */
static void reply_once(struct http_request *req, const struct call *call)
{
	static const struct http_field fields[] = {
		{"Content-Type", "application/json"},
		{"Cache-Control", "no-store"},
		{"X-Content-Type-Options", "nosniff"},
		{"Referrer-Policy", "no-referrer"},
		{NULL, NULL}};

	http_reply(req, call->status, call->body.len ? fields : fields + 1,
		   call->body.data, call->body.len);
}

static void job_free(struct query_job *job)
{
	buf_free(&job->call.body);
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

	if (!encoding_choose(&job->accepted, body->len, &job->encoding) ||
	    job->encoding == ENCODING_IDENTITY)
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
		problem_reply_soon(job->req, CLICKHOUSE_CANCELLED);
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
	/* Without memory for it, the answer is made. */
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
		problem_reply_soon(req, "out of memory");
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
		problem_reply_soon(req, err.text);
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

/* An http_handler; `arg` is a struct router_loop. */
static void router_handle(struct http_request *req, void *arg)
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

/* `arg` is a struct router_loop. */
static bool is_streamed(const struct http_request *req, void *arg)
{
	(void)arg;
	return exports_choose(req) || live_choose(req);
}

static void dispatch_streamed_request(struct http_request *req, void *arg)
{
	struct router_loop *at = arg;

	if (live_choose(req))
		live_handle(at->live, req);
	else
		exports_handle(at->router->exports, at->loop, req);
}

/* Adds the fields of every answer; `arg` is a struct router_loop. */
static void put_fields(const struct http_request *req, struct buf *lines,
		       void *arg)
{
	const struct router_loop *at = arg;
	const struct cors cors = cors_of(at->router);

	cors_put_fields(&cors, req, lines);
}

/* --- threads ----------------------------------------------------------------
 */

/* An event loop on a thread of its own. */
struct server {
	struct router_loop at;
	struct serving_thread serving;
	struct log *log;
};

struct api {
	struct router router;
	struct server *servers;
	size_t count;
};

static void register_bounds(struct api *api, struct metrics *m)
{
	const struct aggregator_settings *s = &api->router.config->aggregator;
	const struct {
		const char *name, *help;
		int64_t value;
	} bounds[] = {
		{"shortloop_aggregator_workers_max",
		 "Queries asked at once (setting workers).", s->workers},
		{"shortloop_aggregator_queue_max",
		 "Requests that may wait (setting queue_max).", s->queue_max},
		{"shortloop_aggregator_key_questions_max",
		 "Requests of a key under way (setting key_questions_max).",
		 s->key_questions_max},
		{"shortloop_aggregator_exports_max",
		 "Exports at once (setting exports_max).", s->exports_max},
		{"shortloop_aggregator_key_exports_max",
		 "Exports of a key at once (setting key_exports_max).",
		 s->key_exports_max},
		{"shortloop_aggregator_buckets_max",
		 "Intervals in an answer (setting buckets_max).",
		 s->buckets_max},
		{"shortloop_aggregator_groups_max",
		 "Groups in an answer (setting groups_max).", s->groups_max},
		{"shortloop_aggregator_raw_rows_max",
		 "Rows read for an answer that settled counts do not have "
		 "(setting raw_rows_max).",
		 s->raw_rows_max},
		{"shortloop_aggregator_exact_rows_max",
		 "Rows counted exactly (setting exact_rows_max).",
		 s->exact_rows_max},
	};

	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
		metric_set(
			metrics_gauge(m, bounds[i].name, NULL, bounds[i].help),
			bounds[i].value);
	router_register_metrics(&api->router, m);
}

static int open_questions(struct router *r, struct metrics *metrics,
			  struct error *err)
{
	const struct slots_bounds bounds = {
		.of_key = r->config->aggregator.key_questions_max};
	size_t count = (size_t)r->config->aggregator.workers;

	r->questions = slots_new(&bounds, err);
	if (!r->questions)
		return -1;
	r->answers = answer_cache_new(r->config->aggregator.answer_cache,
				      metrics, err);
	if (!r->answers)
		return -1;
	r->polls = polls_new(metrics, err);
	if (!r->polls)
		return -1;
	r->ender =
		query_ender_new(&r->config->clickhouse, r->log, metrics, err);
	if (!r->ender)
		return -1;
	r->hasty = r->config->clickhouse;
	if (r->hasty.query_timeout > r->config->aggregator.answer_timeout)
		r->hasty.query_timeout = r->config->aggregator.answer_timeout;
	r->connections = calloc(count, sizeof(struct clickhouse *));
	if (!r->connections)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++) {
		r->connections[i] = clickhouse_new(&r->hasty, err);
		if (!r->connections[i])
			return -1;
	}
	r->workers = workers_new((unsigned)count,
				 (size_t)r->config->aggregator.queue_max, err);
	return r->workers ? 0 : -1;
}

static void load_files(struct router *r)
{
	struct error err = {0};

	r->files = static_files_load(r->config->aggregator.web_root, &err);
	if (!r->files)
		log_warn(r->log, "no dashboard: see aggregator.web_root",
			 log_err(&err));
}

static void on_failure(void *arg, const struct error *err)
{
	const struct server *s = arg;

	log_error(s->log, "event loop", log_err(err));
}

static int server_open(struct server *s, struct router *router,
		       struct metrics *metrics, struct error *err)
{
	s->log = router->log;
	s->at.router = router;
	s->at.loop = loop_new(err);
	if (!s->at.loop)
		return -1;
	s->at.live = live_loop_new(router->live, s->at.loop, err);
	if (!s->at.live)
		return -1;
	s->serving = (struct serving_thread){
		.loop = s->at.loop,
		.drain_timeout = router->config->aggregator.drain_timeout,
		.on_failure = on_failure,
		.arg = s,
	};
	s->serving.listener =
		http_listener_new(s->at.loop, router->config->aggregator.listen,
				  &router->config->http, router_handle, &s->at,
				  metrics, "aggregator", err);
	if (!s->serving.listener)
		return -1;
	http_listener_fields(s->serving.listener, put_fields);
	http_listener_stream(s->serving.listener, is_streamed,
			     dispatch_streamed_request);
	return 0;
}

static int load_openapi(struct router *r, struct error *err)
{
	r->openapi = (struct static_file){.type = "application/json",
					  .etag = "\"" VERSION "\""};
	if (yaml_to_json(openapi_yaml, &r->openapi.forms[ENCODING_IDENTITY],
			 err) < 0)
		return error_wrap(err, "openapi");
	return static_file_encode(&r->openapi, err);
}

static int open_redis_links(struct router *r, struct metrics *metrics,
			    struct health *health, struct error *err)
{
	const struct redis_links_options options = {
		.config = r->config,
		.log = r->log,
		.metrics = metrics,
		.health = health,
	};

	if (r->config->links.spaces.count == 0)
		return 0;
	r->redis = redis_links_new(&options, err);
	return r->redis ? 0 : -1;
}

static int open_shares(struct router *r, struct metrics *metrics,
		       struct error *err)
{
	const struct share_desk_uses uses = {
		.config = r->config,
		.keys = r->keys,
		.redis = r->redis,
		.metrics = metrics,
	};

	if (!r->keys || !r->redis)
		return 0;
	r->shares = share_desk_new(&uses, err);
	return r->shares ? 0 : -1;
}

static int open_exports(struct router *r, struct metrics *metrics,
			struct error *err)
{
	const struct exports_uses uses = {
		.config = r->config,
		.keys = r->keys,
		.freshness = r->freshness,
		.redis = r->redis,
		.ender = r->ender,
		.log = r->log,
		.metrics = metrics,
	};

	r->exports = exports_new(&uses, err);
	return r->exports ? 0 : -1;
}

static int open_live(struct router *r, struct metrics *metrics,
		     struct error *err)
{
	const struct live_options options = {
		.config = r->config,
		.log = r->log,
		.metrics = metrics,
		.keys = r->keys,
		.workers = r->workers,
		.connections = r->connections,
		.redis = r->redis,
		.ender = r->ender,
		.questions = r->questions,
		.refused = r->refused,
	};

	r->live = live_new(&options, err);
	return r->live ? 0 : -1;
}

static int open_parts(struct api *api, struct metrics *metrics,
		      struct health *health, struct error *err)
{
	struct router *r = &api->router;
	size_t count = (size_t)r->config->aggregator.threads;

	if (load_openapi(r, err) < 0 ||
	    api_keys_open(&r->config->aggregator, r->log, metrics, &r->keys,
			  err) < 0)
		return -1;
	r->domains = api_domains_new(r->config, r->log, metrics, health, err);
	r->freshness =
		r->domains ? freshness_new(r->config, health, err) : NULL;
	if (!r->freshness || open_questions(r, metrics, err) < 0 ||
	    open_redis_links(r, metrics, health, err) < 0 ||
	    open_shares(r, metrics, err) < 0 ||
	    open_exports(r, metrics, err) < 0 || open_live(r, metrics, err) < 0)
		return -1;
	api->servers = calloc(count, sizeof(*api->servers));
	if (!api->servers)
		return error_set_nomem(err);
	for (; api->count < count; api->count++) {
		if (server_open(&api->servers[api->count], r, metrics, err) <
		    0) {
			api->count++; /* half-built, but has to be freed */
			return -1;
		}
	}
	return 0;
}

struct api *api_new(const struct aggregator_config *config, struct log *log,
		    struct metrics *metrics, struct health *health,
		    struct error *err)
{
	struct api *api = calloc(1, sizeof(*api));

	if (!api) {
		error_set_nomem(err);
		return NULL;
	}
	api->router.config = config;
	api->router.log = log;
	register_bounds(api, metrics);
	load_files(&api->router);
	if (open_parts(api, metrics, health, err) < 0) {
		api_free(api);
		return NULL;
	}
	return api;
}

int api_start(struct api *api, struct error *err)
{
	if (api_domains_start(api->router.domains, err) < 0 ||
	    freshness_start(api->router.freshness, err) < 0 ||
	    (api->router.redis &&
	     redis_links_start(api->router.redis, err) < 0) ||
	    live_start(api->router.live, err) < 0)
		return -1;
	for (size_t i = 0; i < api->count; i++) {
		if (serving_thread_start(&api->servers[i].serving, err) < 0)
			return -1;
	}
	log_info(api->router.log, "serving",
		 log_str("address", api->router.config->aggregator.listen));
	return 0;
}

void api_reload(struct api *api)
{
	api_keys_reload(api->router.keys, api->router.log);
	api_domains_reload(api->router.domains);
}

/* Workers end before the loops that they answer to are freed. */
static void stop_threads(struct api *api)
{
	for (size_t i = 0; i < api->count; i++)
		serving_thread_drain(&api->servers[i].serving);
	for (size_t i = 0; i < api->count; i++)
		serving_thread_join(&api->servers[i].serving);
	live_stop(api->router.live);
	workers_free(api->router.workers);
	exports_stop(api->router.exports);
}

void api_free(struct api *api)
{
	struct router *r;

	if (!api)
		return;
	r = &api->router;
	stop_threads(api);
	for (size_t i = 0; i < api->count; i++) {
		http_listener_free(api->servers[i].serving.listener);
		loop_free(api->servers[i].at.loop);
	}
	for (int64_t i = 0; r->connections && i < r->config->aggregator.workers;
	     i++)
		clickhouse_free(r->connections[i]);
	free(r->connections);
	live_free(r->live);
	exports_free(r->exports);
	share_desk_free(r->shares);
	redis_links_free(r->redis);
	api_domains_free(r->domains);
	query_ender_free(r->ender);
	slots_free(r->questions);
	polls_free(r->polls);
	answer_cache_free(r->answers);
	freshness_free(r->freshness);
	api_keyring_free(r->keys);
	static_files_free(r->files);
	static_file_release(&r->openapi);
	free(api->servers);
	free(api);
}
