#include "stack/clickhouse/server.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/http/http_server.h"
#include "common/loop/workers.h"
#include "stack/clickhouse/engine.h"
#include "stack/clickhouse/failure.h"
#include "stack/clickhouse/query.h"
#include "stack/clickhouse/query_request.h"
#include "stack/clickhouse/running.h"
#include "stack/clickhouse/sessions.h"
#include "stack/clickhouse/users.h"

/* --- answers -------------------------------------------------------------- */

/* The engine's description, read once and sent in every answer. */
struct reply_identity {
	char version[64];
	char time_zone[64];
	char display_name[128];
};

#define SUMMARY_MAX 512

static const struct {
	const char *start; /* the start of the format's name */
	const char *type;
} content_types[] = {
	{"JSONEachRow", "application/x-ndjson; charset=UTF-8"},
	{"JSONCompactEachRow", "application/x-ndjson; charset=UTF-8"},
	{"JSONStringsEachRow", "application/x-ndjson; charset=UTF-8"},
	{"JSON", "application/json; charset=UTF-8"},
	{"CSVWithNames", "text/csv; charset=UTF-8; header=present"},
	{"CSV", "text/csv; charset=UTF-8; header=absent"},
	{"TabSeparated", "text/tab-separated-values; charset=UTF-8"},
	{"TSV", "text/tab-separated-values; charset=UTF-8"},
	{"XML", "application/xml; charset=UTF-8"},
	{"RowBinary", "application/octet-stream"},
	{"Native", "application/octet-stream"},
	{"Arrow", "application/octet-stream"},
	{"Parquet", "application/octet-stream"},
};

static const char *content_type(const char *format)
{
	for (size_t i = 0; i < sizeof(content_types) / sizeof(*content_types);
	     i++)
		if (strncmp(format, content_types[i].start,
			    strlen(content_types[i].start)) == 0)
			return content_types[i].type;
	return "text/plain; charset=UTF-8";
}

/* Numbers are written as strings, as ClickHouse does.  The data of an INSERT
 * counts as read. */
static void write_summary(char out[SUMMARY_MAX], const struct query *q)
{
	const struct engine_result *r = &q->result;
	bool insert = q->statement.has_data;
	uint64_t read_rows = insert ? r->written_rows : r->read_rows;
	uint64_t read_bytes = insert ? r->written_bytes : r->read_bytes;
	uint64_t rows = insert ? r->written_rows : r->result_rows;
	uint64_t bytes = insert ? r->written_bytes : r->result_bytes;

	snprintf(out, SUMMARY_MAX,
		 "{\"read_rows\":\"%" PRIu64 "\",\"read_bytes\":\"%" PRIu64
		 "\",\"written_rows\":\"%" PRIu64
		 "\",\"written_bytes\":\"%" PRIu64
		 "\",\"total_rows_to_read\":\"%" PRIu64
		 "\",\"result_rows\":\"%" PRIu64
		 "\",\"result_bytes\":\"%" PRIu64 "\",\"elapsed_ns\":\"%.0f\"}",
		 read_rows, read_bytes, r->written_rows, r->written_bytes,
		 read_rows, rows, bytes, r->seconds * 1e9);
}

static void reply_result(struct http_request *http,
			 const struct reply_identity *id,
			 const struct query_request *r, const struct query *q)
{
	const char *format = query_format(q, r);
	struct http_slice answer = query_answer(q);
	char summary[SUMMARY_MAX];
	struct http_field fields[] = {
		{"Content-Type", content_type(format)},
		{"X-ClickHouse-Server-Display-Name", id->display_name},
		{"X-ClickHouse-Query-Id", r->query_id},
		{"X-ClickHouse-Format", format},
		{"X-ClickHouse-Timezone", id->time_zone},
		{"X-ClickHouse-Summary", summary},
		{NULL, NULL}, /* Content-Encoding */
		{NULL, NULL},
	};

	write_summary(summary, q);
	if (r->answer_coding != CODING_IDENTITY)
		fields[6] = (struct http_field){"Content-Encoding",
						coding_name(r->answer_coding)};
	http_reply(http, 200, fields, answer.data, answer.len);
}

/* Answers with a failure in ClickHouse's form ("Code: N. ..."). */
static void reply_failure(struct http_request *http,
			  const struct reply_identity *id, const char *query_id,
			  const char *text)
{
	int code = failure_code_of(text);
	struct buf body = {0};
	char number[16];
	struct http_field fields[] = {
		{"Content-Type", "text/plain; charset=UTF-8"},
		{"X-ClickHouse-Server-Display-Name", id->display_name},
		{"X-ClickHouse-Query-Id", query_id},
		{"X-ClickHouse-Timezone", id->time_zone},
		{"X-ClickHouse-Exception-Code", number},
		{NULL, NULL},
	};

	snprintf(number, sizeof(number), "%d", code);
	if (strncmp(text, "Code: ", 6) != 0)
		buf_printf(&body, "Code: %d. DB::Exception: ", code);
	buf_puts(&body, text);
	if (!strstr(text, "(version "))
		buf_printf(&body, " (version %s)", id->version);
	buf_putc(&body, '\n');
	http_reply(http, failure_http_status(code), fields, body.data,
		   body.len);
	buf_free(&body);
}

/* Answers with the result, or with the failure. */
static void reply_query(struct http_request *http,
			const struct reply_identity *id,
			const struct query_request *r, const struct query *q)
{
	struct buf text = {0};

	if (!q->failed) {
		reply_result(http, id, r, q);
		return;
	}
	buf_append(&text, q->failure.data, q->failure.len);
	buf_cstr(&text);
	reply_failure(http, id, r->query_id,
		      text.failed ? "out of memory" : text.data);
	buf_free(&text);
}

/* --- queries -------------------------------------------------------------- */

#define DRAIN_TIMEOUT (20 * CLOCK_SECOND)
#define BODY_TIMEOUT  (300 * CLOCK_SECOND)
#define URL_MAX	      (1024 * 1024 + 64 * 1024)

struct server {
	struct loop *loop;
	struct log *log;
	struct engine *engine;
	struct workers *workers;
	struct sessions *sessions;
	struct running *ids;
	struct http_listener *listener;
	struct http_config http;
	struct query_limits limits;
	struct users users;
	struct reply_identity identity;
	size_t running; /* jobs given to the workers */
};

/* One request on its way: loop, worker, loop. */
struct server_job {
	struct server *server;
	struct http_request *http;
	struct query_request request;
	struct engine_session *session; /* NULL: the request has none */
	bool has_id;			/* in the server's `ids` */
	struct query query;
	int64_t started;
};

static void job_run(void *arg, unsigned index)
{
	struct server_job *job = arg;

	(void)index;
	query_run(&job->query, &job->request, job->server->engine, job->session,
		  job->server->ids, &job->server->limits);
	running_leave(job->server->ids, job->request.query_id);
	job->has_id = false;
}

static void job_free(struct server_job *job)
{
	struct server *s = job->server;

	if (job->has_id)
		running_leave(s->ids, job->request.query_id);
	if (job->session)
		sessions_give_back(s->sessions, job->request.session_id,
				   job->request.session_timeout);
	query_release(&job->query, s->engine);
	query_request_release(&job->request);
	free(job);
}

static void log_query(const struct server_job *job)
{
	const struct query *q = &job->query;
	int64_t ms = clock_monotonic_ms() - job->started;
	char text[300];

	if (q->failed) {
		snprintf(text, sizeof(text), "%.*s", (int)q->failure.len,
			 q->failure.data ? q->failure.data : "");
		log_warn(job->server->log, "query failed",
			 log_str("query_id", job->request.query_id),
			 log_int("ms", ms), log_str("error", text));
		return;
	}
	log_debug(job->server->log, "query",
		  log_str("query_id", job->request.query_id), log_int("ms", ms),
		  log_int("read_rows", (int64_t)q->result.read_rows),
		  log_int("written_rows", (int64_t)q->result.written_rows));
}

static void job_done(void *arg)
{
	struct server_job *job = arg;

	job->server->running--;
	log_query(job);
	reply_query(job->http, &job->server->identity, &job->request,
		    &job->query);
	job_free(job);
}

static int submit_job(struct server *s, struct server_job *job,
		      struct error *err)
{
	struct error full = {0};

	if (running_enter(s->ids, job->request.query_id, err) < 0)
		return -1;
	job->has_id = true;
	if (job->request.session_id) {
		job->session =
			sessions_take(s->sessions, job->request.session_id,
				      job->request.session_check, err);
		if (!job->session)
			return -1;
	}
	if (workers_submit(s->workers, s->loop, job_run, job_done, job,
			   &full) == 0) {
		s->running++;
		return 0;
	}
	return failure_set(err, FAILURE_TOO_MANY_QUERIES,
			   "Too many simultaneous queries: %s", full.text);
}

static void handle_query(struct server *s, struct http_request *http)
{
	struct server_job *job = calloc(1, sizeof(*job));
	struct error err = {0};

	if (!job) {
		reply_failure(http, &s->identity, "", "out of memory");
		return;
	}
	job->server = s;
	job->http = http;
	job->started = clock_monotonic_ms();
	if (query_request_read(&job->request, http, &err) == 0 &&
	    users_check(&s->users, http, &err) == 0 &&
	    submit_job(s, job, &err) == 0)
		return;
	log_warn(s->log, "request refused", log_err(&err));
	reply_failure(http, &s->identity, job->request.query_id, err.text);
	job_free(job);
}

static bool path_is(const struct http_request *http, const char *path)
{
	struct http_slice p = http_path(http);

	return p.len == strlen(path) && memcmp(p.data, path, p.len) == 0;
}

/* "GET /" without a query is the same as /ping. */
static bool asks_for_health(const struct http_request *http, bool get)
{
	return path_is(http, "/ping") || path_is(http, "/replicas_status") ||
	       (path_is(http, "/") && get && http_query(http).len == 0);
}

static void handle_request(struct http_request *http, void *arg)
{
	struct server *s = arg;
	static const struct http_field allow[] = {{"Allow", "GET, HEAD, POST"},
						  {NULL, NULL}};
	static const char unknown[] =
		"There is no handle for this path.\n\nUse / or /ping for "
		"health checks, and / for queries.\n";
	bool get = http_method_is(http, "GET") || http_method_is(http, "HEAD");

	if (!get && !http_method_is(http, "POST"))
		http_reply(http, 405, allow, NULL, 0);
	else if (asks_for_health(http, get))
		http_reply_text(http, 200, "Ok.\n");
	else if (path_is(http, "/"))
		handle_query(s, http);
	else
		http_reply_text(http, 404, unknown);
}

/* Takes one field of a line of TabSeparated; returns the text after it. */
static const char *take_field(const char *line, char *out, size_t size)
{
	size_t len = strcspn(line, "\t\n");

	snprintf(out, size, "%.*s", (int)len, line);
	return line[len] ? line + len + 1 : line + len;
}

static int ask_identity(struct server *s, struct error *err)
{
	static const char sql[] = "SELECT version(), timezone(), displayName()";
	struct engine_session *session = engine_open(s->engine, err);
	struct engine_result result = {0};
	struct buf failure = {0}, line = {0};
	const char *rest;
	int rc = -1;

	if (!session)
		return -1;
	if (engine_query(s->engine, session, sql, sizeof(sql) - 1,
			 "TabSeparated", NULL, &result, &failure, err) < 0)
		goto out;
	buf_append(&line, result.data, result.len);
	rest = buf_cstr(&line);
	if (!rest) {
		error_set_nomem(err);
		goto out;
	}
	rest = take_field(rest, s->identity.version,
			  sizeof(s->identity.version));
	rest = take_field(rest, s->identity.time_zone,
			  sizeof(s->identity.time_zone));
	take_field(rest, s->identity.display_name,
		   sizeof(s->identity.display_name));
	rc = 0;
out:
	engine_result_free(s->engine, &result);
	engine_close(s->engine, session);
	buf_free(&failure);
	buf_free(&line);
	return rc;
}

static void set_bounds(struct server *s, const struct options *o)
{
	s->http = http_config_default;
	s->http.max_header_bytes = URL_MAX;
	s->http.max_body_bytes = o->max_body;
	s->http.max_connections = o->max_connections;
	s->http.body_timeout = BODY_TIMEOUT;
	s->limits.max_body = (size_t)o->max_body;
	s->limits.max_result_bytes = (size_t)o->max_result;
}

static int start_server(struct server *s, const struct options *o,
			struct error *err)
{
	set_bounds(s, o);
	if (users_init(&s->users, o->user, o->password_file, err) < 0)
		return -1;
	s->engine = engine_new(o->library, o->path,
			       strcmp(o->compile, "yes") == 0, err);
	if (!s->engine || ask_identity(s, err) < 0)
		return -1;
	s->ids = running_new(err);
	if (!s->ids)
		return -1;
	s->workers = workers_new((unsigned)o->threads, (size_t)o->queue, err);
	s->sessions = s->workers ? sessions_new(s->loop, s->engine,
						(size_t)o->max_sessions, err)
				 : NULL;
	if (!s->sessions)
		return -1;
	s->listener =
		http_listener_new(s->loop, o->listen, &s->http, handle_request,
				  s, NULL, "clickhouse", err);
	if (!s->listener)
		return -1;
	log_info(s->log, "listening", log_str("address", o->listen),
		 log_int("port", http_listener_port(s->listener)),
		 log_str("engine", s->identity.version));
	return 0;
}

struct server *server_new(struct loop *loop, const struct options *options,
			  struct log *log, struct error *err)
{
	struct server *s = calloc(1, sizeof(*s));

	if (!s) {
		error_set_nomem(err);
		return NULL;
	}
	s->loop = loop;
	s->log = log;
	if (start_server(s, options, err) == 0)
		return s;
	server_free(s);
	return NULL;
}

static void stop_loop(void *arg)
{
	loop_stop(arg);
}

void server_drain(struct server *s)
{
	http_listener_drain(s->listener, DRAIN_TIMEOUT, stop_loop, s->loop);
}

bool server_is_busy(const struct server *s)
{
	return s && s->running > 0;
}

void server_free(struct server *s)
{
	if (!s)
		return;
	workers_free(s->workers);
	http_listener_free(s->listener);
	sessions_free(s->sessions);
	running_free(s->ids);
	engine_free(s->engine);
	users_release(&s->users);
	free(s);
}
