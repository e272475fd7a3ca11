#include "aggregator/export/exports.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/api/api_keys.h"
#include "aggregator/api/call.h"
#include "aggregator/api/problem.h"
#include "aggregator/api/slots.h"
#include "aggregator/export/export_links.h"
#include "aggregator/export/export_rows.h"
#include "aggregator/export/export_scan.h"
#include "common/clock.h"
#include "common/compress.h"
#include "common/http/encoding.h"
#include "common/loop/workers.h"

/* Rows of one question.  What it costs before its first row is some ten
 * thousand rows' worth, so that more are asked for at once while the client
 * takes them as fast as they come: each time twice as many, up to so many rows
 * or bytes of their lines.  Three times that is an export's memory: what the
 * client has not taken yet, what is ready, and what ClickHouse said. */
#define PAGE_ROWS     8192
#define PAGE_ROWS_MAX 32768
#define PAGE_BYTES    (12 * 1024 * 1024)
/* A portion is sent when it has so much, or was worked on for so long. */
#define PORTION_BYTES 65536
#define PORTION_MS    500
/* While a client has not taken more than this, the next portion is held. */
#define DRAIN_MARK 262144

struct exports {
	struct exports_uses uses;
	struct workers *workers;
	struct clickhouse **connections; /* one a worker */
	struct slots *slots;
	struct metric *rows, *running, *failed, *refused;
};

/*
 * One export.  It is worked on by a worker (`working`), or by its loop:
 *
 *   working --> a portion is there --> client has taken the last --> working
 *                                                               \--> ended
 *
 * A worker touches it only while it works; `gone` and `ready` are the loop's.
 */
struct export
{
	struct exports *all;
	struct loop *loop;
	struct http_request *req;
	struct access access;
	struct clickhouse_task task;
	bool working, ready, gone, begun, has_slot;
	atomic_bool stop; /* asked of the worker: end where it is */

	/* The worker's. */
	char *query; /* of the URL */
	enum encoding encoding;
	struct compressor *compressor; /* NULL: identity */
	enum export_format likes;      /* of the client */
	bool head; /* HEAD: only whether there would be an answer */
	bool prepared, done;
	struct export_question question;
	struct export_scan scan;
	size_t page_rows; /* of the next question; the loop's, between two */
	size_t row_bytes; /* of those of the last one; 0: there was none */
	uint64_t sent;	  /* rows */
	struct buf out;
	int outcome;
	struct error err;
};

/* --- what the worker does --------------------------------------------------
 */

/* What was fixed by the first of the exports that go on from each other, or is
 * now: up to where counts are complete. */
static int find_range(struct export *e, struct call *call, struct error *err)
{
	const struct export_question *q = &e->question;
	struct export_range *range = &e->scan.range;
	int64_t complete;

	if (q->has_cursor) {
		*range = q->cursor.range;
		return 0;
	}
	if (call_complete_until(call, &complete, err) < 0)
		return -1;
	if (!complete)
		return error_set_retriable(err, ERROR_REMOTE,
					   "collectors' reports do not say yet "
					   "up to when clicks are complete");
	range->to_ms =
		q->to_ms >= 0 && q->to_ms < complete ? q->to_ms : complete;
	range->from_ms = q->from_ms >= 0	    ? q->from_ms
			 : range->to_ms > CLOCK_DAY ? range->to_ms - CLOCK_DAY
						    : 0;
	if (range->to_ms < range->from_ms)
		range->to_ms = range->from_ms;
	range->append_before_ms =
		complete + call->config->aggregator.clicks.edge_delay;
	return 0;
}

/* A code may have another link by now, which is another export. */
static int find_link(struct export *e, struct call *call, struct error *err)
{
	const struct export_question *q = &e->question;
	struct link_finder finder = call_finder(call);
	struct archived_link link = {0};
	uint64_t before = e->scan.range.link_id;
	int status = link_find(&finder, q->code, q->link_id, &link, err);

	archived_link_release(&link);
	if (status < 0)
		return -1;
	if (q->has_cursor && link.link_id != before)
		return error_set(err, ERROR_INPUT,
				 "cursor: the code %s has another link by now",
				 q->code);
	e->scan.links.ids = malloc(sizeof(*e->scan.links.ids));
	if (!e->scan.links.ids)
		return error_set_nomem(err);
	e->scan.links.ids[0] = e->scan.range.link_id = link.link_id;
	e->scan.links.count = 1;
	return 0;
}

static int find_links(struct export *e, struct call *call, struct error *err)
{
	const struct export_question *q = &e->question;
	struct error ignored;

	if (*q->code || q->link_id)
		return find_link(e, call, err);
	if (!q->has_owner &&
	    access_check_all(call->access, "", &ignored) == 0) {
		e->scan.all_links = true;
		return 0;
	}
	return export_links_read(
		&e->scan.links, call->ch, call->access,
		q->has_owner ? q->owner : NULL,
		(size_t)call->config->aggregator.export_links_max, err);
}

static int open_compressor(struct export *e, struct error *err)
{
	if (e->encoding == ENCODING_IDENTITY)
		return 0;
	e->compressor =
		compressor_new(encoding_name(e->encoding), COMPRESS_NEAR, err);
	return e->compressor ? 0 : -1;
}

static int prepare(struct export *e, struct call *call, struct error *err)
{
	struct export_question *q = &e->question;

	if (export_question_parse(
		    q, (struct http_slice){e->query, strlen(e->query)},
		    e->likes, err) < 0 ||
	    find_range(e, call, err) < 0 || find_links(e, call, err) < 0 ||
	    open_compressor(e, err) < 0)
		return -1;
	export_scan_start(&e->scan, q->has_cursor ? &q->cursor.after : NULL);
	export_rows_head(&e->out, q->format);
	e->prepared = true;
	return 0;
}

/* Keys may have been read again since it began. */
static int check_access(struct export *e, struct error *err)
{
	struct api_key_info *who = &e->access.who, before = *who;

	if (!e->access.keys ||
	    (api_keyring_still_may(e->access.keys, who, API_READ_OWN) &&
	     who->roles == before.roles &&
	     !strcmp(who->account, before.account) &&
	     key_owners_equal(who->owners, before.owners)))
		return 0;
	return error_set(err, ERROR_NOT_OWNER,
			 "what this key sees was changed meanwhile");
}

/* Says where it ended and whether that is the end of it. */
static void put_end(struct export *e, bool complete)
{
	const struct export_range *r = &e->scan.range;
	char from[RFC3339_TEXT_MAX], to[RFC3339_TEXT_MAX];
	struct export_cursor cursor = {.range = *r,
				       .after = export_scan_place(&e->scan)};

	e->done = true;
	if (e->question.format == EXPORT_CSV)
		return;
	buf_printf(&e->out,
		   "{\"end\":{\"complete\":%s,\"rows\":%" PRIu64
		   ",\"from\":\"%s\",\"to\":\"%s\",\"cursor\":",
		   complete ? "true" : "false", e->sent,
		   rfc3339_format(r->from_ms, from),
		   rfc3339_format(r->to_ms, to));
	if (!complete) {
		buf_putc(&e->out, '"');
		export_cursor_put(&e->out, &e->question, &cursor);
		buf_putc(&e->out, '"');
	} else {
		buf_puts(&e->out, "null");
	}
	buf_puts(&e->out, "}}\n");
}

/* Ends it where it is.  CSV has its cursors in its rows: without any it would
 * look like the end of all. */
static int end_early(struct export *e, struct error *err)
{
	if (e->question.format == EXPORT_CSV && !e->sent)
		return error_set_retriable(
			err, ERROR_REMOTE,
			"the aggregator was stopped before the first row");
	put_end(e, false);
	return 0;
}

static size_t rows_wanted(const struct export *e)
{
	uint64_t limit = e->question.limit;
	size_t rows = e->page_rows;

	if (e->row_bytes && rows > PAGE_BYTES / e->row_bytes)
		rows = PAGE_BYTES / e->row_bytes;
	if (rows < PAGE_ROWS)
		rows = PAGE_ROWS;
	return limit && limit - e->sent < rows ? (size_t)(limit - e->sent)
					       : rows;
}

/* A day that it has not come to may have been dropped since it began. */
static int next_page(struct export *e, struct call *call, struct error *err)
{
	size_t before = e->out.len, rows;

	if (call_check_rows(call, e->scan.day / CLOCK_SECOND, err) < 0 ||
	    export_scan_next(&e->scan, call->ch, &e->question, rows_wanted(e),
			     &e->out, &rows, err) < 0)
		return -1;
	if (rows)
		e->row_bytes = (e->out.len - before) / rows;
	e->sent += rows;
	metric_add(e->all->rows, rows);
	return 0;
}

static bool is_full(const struct export *e)
{
	return e->question.limit && e->sent == e->question.limit;
}

static int make_portion(struct export *e, struct clickhouse *ch,
			struct error *err)
{
	struct call call = {.config = e->all->uses.config,
			    .freshness = e->all->uses.freshness,
			    .access = &e->access,
			    .ch = ch,
			    .redis = e->all->uses.redis};
	int64_t start = clock_monotonic_ms();

	if (check_access(e, err) < 0 ||
	    (!e->prepared && prepare(e, &call, err) < 0))
		return -1;
	while (!e->head && !export_scan_is_done(&e->scan) && !is_full(e) &&
	       !atomic_load(&e->stop) && e->out.len < PORTION_BYTES &&
	       clock_monotonic_ms() - start < PORTION_MS) {
		if (next_page(e, &call, err) < 0)
			return -1;
	}
	if (e->head || export_scan_is_done(&e->scan))
		put_end(e, true);
	else if ((is_full(e) || atomic_load(&e->stop)) && end_early(e, err) < 0)
		return -1;
	return e->out.failed ? error_set_nomem(err) : 0;
}

/* As fast as can be: the rows are made while the client waits. */
static int encode_portion(struct export *e, struct error *err)
{
	struct buf plain = e->out;
	int status;

	if (!e->compressor)
		return 0;
	e->out = (struct buf){0};
	status = compressor_put(e->compressor, plain.data, plain.len, e->done,
				&e->out, err);
	buf_free(&plain);
	return status;
}

static void work(void *arg, unsigned index)
{
	struct export *e = arg;
	struct clickhouse *ch = e->all->connections[index];

	clickhouse_set_task(ch, &e->task);
	e->outcome = make_portion(e, ch, &e->err);
	if (e->outcome == 0)
		e->outcome = encode_portion(e, &e->err);
	clickhouse_set_task(ch, NULL);
	query_ender_finish(e->all->uses.ender, &e->task);
}

/* --- what the loop does -----------------------------------------------------
 */

static void export_free(struct export *e)
{
	if (e->has_slot) {
		slots_give_back(e->all->slots, e->access.who.name);
		metric_add(e->all->running, UINT64_MAX);
	}
	export_scan_release(&e->scan);
	compressor_free(e->compressor);
	buf_free(&e->out);
	free(e->query);
	free(e);
}

/* The request's last use. */
static void end(struct export *e)
{
	http_stream_end(e->req);
	export_free(e);
}

static void begin(struct export *e)
{
	const struct http_field fields[] = {
		{"Content-Encoding", encoding_name(e->encoding)},
		{"Content-Type", e->question.format == EXPORT_CSV
					 ? "text/csv; charset=utf-8"
					 : "application/x-ndjson"},
		{"Vary", "Accept, Accept-Encoding"},
		{"Cache-Control", "no-store"},
		{"X-Content-Type-Options", "nosniff"},
		{NULL, NULL}};

	http_stream_begin(e->req, 200,
			  e->encoding == ENCODING_IDENTITY ? fields + 1
							   : fields);
	e->begun = true;
}

/* A client that has its answer half is told by a body without an end. */
static void fail(struct export *e)
{
	struct exports *x = e->all;

	if (e->begun) {
		metric_add(x->failed, 1);
		log_warn(x->uses.log, "export broken off", log_err(&e->err));
		http_stream_break(e->req);
		end(e);
		return;
	}
	problem_reply(e->req, x->uses.log, &e->err);
	export_free(e);
}

static void on_worked(void *arg);

static void submit(struct export *e)
{
	struct error err = {0};

	e->working = true;
	if (workers_submit(e->all->workers, e->loop, work, on_worked, e,
			   &err) == 0)
		return;
	e->working = false;
	e->err = err;
	fail(e);
}

/* Hands a portion to the client and has the next one made meanwhile. */
static void deliver(struct export *e)
{
	e->ready = false;
	if (!e->begun)
		begin(e);
	http_stream_write(e->req, e->out.data, e->out.len);
	buf_reset(&e->out);
	if (e->done)
		end(e);
	else
		submit(e);
}

static void on_worked(void *arg)
{
	struct export *e = arg;

	e->working = false;
	if (e->gone) {
		end(e);
		return;
	}
	if (e->outcome < 0) {
		fail(e);
		return;
	}
	e->ready = true;
	if (http_stream_pending(e->req) > DRAIN_MARK) {
		e->page_rows = PAGE_ROWS;
		return;
	}
	if (e->page_rows < PAGE_ROWS_MAX)
		e->page_rows *= 2;
	deliver(e);
}

static void on_drained(struct http_request *req, void *arg)
{
	struct export *e = arg;

	(void)req;
	if (e->ready)
		deliver(e);
}

static void on_abort(struct http_request *req, void *arg)
{
	struct export *e = arg;

	(void)req;
	e->gone = true;
	/* Workers that have ended do not come back to it. */
	if (!e->working || !e->all->workers)
		end(e);
	else
		query_ender_cancel(e->all->uses.ender, &e->task);
}

static void on_stop(struct http_request *req, void *arg)
{
	struct export *e = arg;

	(void)req;
	atomic_store(&e->stop, true);
}

/* False: the request was answered. */
static bool take_slot(struct export *e)
{
	struct exports *x = e->all;
	enum slots_answer slot = slots_take(x->slots, e->access.who.name);

	if (slot == SLOTS_TAKEN) {
		metric_add(x->running, 1);
		return e->has_slot = true;
	}
	metric_add(x->refused, 1);
	problem_reply_full(e->req, slot, "exports");
	return false;
}

static enum export_format liked_format(const struct http_request *req)
{
	struct export_accept accept = export_accept_none;
	struct http_slice line;
	size_t at = 0;

	while (http_header_next(req, "accept", &at, &line))
		export_accept_add(&accept, line);
	return export_accept_choose(&accept);
}

/* The request is complete. */
static void on_end(struct http_request *req, void *arg)
{
	struct export *e = arg;
	struct encoding_list accepted = encoding_list_of(req);
	struct http_slice query = http_query(req);

	if (!api_keys_admit(e->access.keys, req, &e->access)) {
		export_free(e);
		return;
	}
	if (!encoding_choose(&accepted, SIZE_MAX, &e->encoding)) {
		problem_reply_not_acceptable(req);
		export_free(e);
		return;
	}
	if (!take_slot(e)) {
		export_free(e);
		return;
	}
	e->query = strndup(query.data ? query.data : "", query.len);
	if (!e->query) {
		error_set_nomem(&e->err);
		fail(e);
		return;
	}
	e->likes = liked_format(req);
	e->head = http_method_is(req, "HEAD");
	submit(e);
}

static const struct http_stream_handler handler = {
	.on_end = on_end,
	.on_abort = on_abort,
	.on_drained = on_drained,
	.drain_mark = DRAIN_MARK,
	.on_stop = on_stop,
	.stop_at_half_close = true,
};

bool exports_choose(const struct http_request *req)
{
	return http_slice_is(http_path(req), "/v1/export/clicks") &&
	       (http_method_is(req, "GET") || http_method_is(req, "HEAD"));
}

void exports_handle(struct exports *x, struct loop *loop,
		    struct http_request *req)
{
	struct export *e = calloc(1, sizeof(*e));

	if (!e) {
		http_reply_problem(req, 503, NULL, "out of memory");
		return;
	}
	e->all = x;
	e->loop = loop;
	e->req = req;
	e->page_rows = PAGE_ROWS;
	e->access.keys = x->uses.keys;
	e->task.priority = EXPORT_PRIORITY;
	query_ender_name(x->uses.ender, &e->task);
	http_stream_accept(req, &handler, e);
}

/* --- life --------------------------------------------------------------------
 */

static void register_metrics(struct exports *x)
{
	struct metrics *m = x->uses.metrics;

	x->rows = metrics_counter(m, "shortloop_aggregator_export_rows_total",
				  NULL, "Rows of clicks that were exported.");
	x->running = metrics_gauge(m, "shortloop_aggregator_exports_running",
				   NULL, "Exports under way.");
	x->failed = metrics_counter(
		m, "shortloop_aggregator_export_failures_total", NULL,
		"Exports that an error broke off half-way.");
	x->refused = metrics_counter(
		m, "shortloop_aggregator_exports_refused_total", NULL,
		"Exports answered 429: too many, in all or of the key.");
}

static int open_workers(struct exports *x, struct error *err)
{
	const struct aggregator_settings *s = &x->uses.config->aggregator;
	size_t count = (size_t)s->export_workers;

	x->connections = calloc(count, sizeof(struct clickhouse *));
	if (!x->connections)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++) {
		x->connections[i] =
			clickhouse_new(&x->uses.config->clickhouse, err);
		if (!x->connections[i])
			return -1;
	}
	x->workers = workers_new((unsigned)count, (size_t)s->exports_max, err);
	return x->workers ? 0 : -1;
}

struct exports *exports_new(const struct exports_uses *uses, struct error *err)
{
	const struct aggregator_settings *s = &uses->config->aggregator;
	const struct slots_bounds bounds = {.of_key = s->key_exports_max,
					    .of_all = s->exports_max};
	struct exports *x = calloc(1, sizeof(*x));

	if (!x) {
		error_set_nomem(err);
		return NULL;
	}
	x->uses = *uses;
	register_metrics(x);
	x->slots = slots_new(&bounds, err);
	if (!x->slots || open_workers(x, err) < 0) {
		exports_free(x);
		return NULL;
	}
	return x;
}

void exports_stop(struct exports *x)
{
	if (!x)
		return;
	workers_free(x->workers);
	x->workers = NULL;
}

void exports_free(struct exports *x)
{
	if (!x)
		return;
	exports_stop(x);
	for (int64_t i = 0;
	     x->connections && i < x->uses.config->aggregator.export_workers;
	     i++)
		clickhouse_free(x->connections[i]);
	free(x->connections);
	slots_free(x->slots);
	free(x);
}
