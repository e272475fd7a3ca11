#include "aggregator/api/export/exports.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/api/api_keys.h"
#include "aggregator/api/call.h"
#include "aggregator/api/export/export_reader.h"
#include "aggregator/api/export/export_writer.h"
#include "aggregator/api/problem.h"
#include "aggregator/api/slots.h"
#include "common/http/encoding.h"
#include "common/loop/workers.h"

/* Rows of one query.  Its cost before the first row is that of some ten
 * thousand rows.  So queries grow while the client takes rows as fast as they
 * come: each has twice as many rows, up to PAGE_ROWS_MAX or to PAGE_BYTES of
 * their lines.  An export holds twice that in lines, those that the client has
 * not taken yet and those that are ready, and two answers of ClickHouse, which
 * are shorter than their lines. */
#define PAGE_ROWS     8192
#define PAGE_ROWS_MAX 32768
#define PAGE_BYTES    (12 * 1024 * 1024)
/* The next portion is held while more than this is pending for the client. */
#define DRAIN_MARK 262144

struct exports {
	struct exports_uses uses;
	struct workers *readers, *writers;
	struct clickhouse **connections; /* one per reader */
	struct slots *slots;
	struct metric *rows, *running, *failed, *refused;
};

enum step {
	IDLE,
	BUSY,	 /* a worker runs it */
	FINISHED /* its result was not taken yet */
};

/*
 * One export.  Two workers work on it, each on one step at a time:
 *
 *   ClickHouse --reading--> answer --writing--> portion --loop--> client
 *
 * A portion is sent when the client has taken most of the last one.  Then lines
 * are made of the next answer, and meanwhile the answer behind it is read.  A
 * worker touches its own members only while its step is BUSY; the rest is the
 * loop's.
 */
struct export
{
	struct exports *all;
	struct loop *loop;
	struct http_request *req;
	bool gone;   /* the client has gone */
	bool broken; /* failed with `err`; workers may be busy */
	bool begun, has_slot;
	enum step reading, writing;
	size_t page_rows; /* rows of the next query */
	struct error err;

	/* Reading. */
	struct clickhouse_task task;
	struct export_reader reader;
	size_t max_rows; /* rows of the query under way */
	struct export_answer answer;
	int read_status;
	struct error read_err;

	/* Writing. */
	struct export_writer writer;
	struct export_answer written; /* the answer that becomes lines */
	struct buf out;
	int write_status;
	struct error write_err;
};

/* --- workers -------------------------------------------------------------- */

static void read_rows(void *arg, unsigned index)
{
	struct export *e = arg;
	const struct exports_uses *uses = &e->all->uses;
	struct call call = {.config = uses->config,
			    .freshness = uses->freshness,
			    .ch = e->all->connections[index],
			    .redis = uses->redis};

	clickhouse_set_task(call.ch, &e->task);
	e->read_status = export_reader_next(&e->reader, &call, e->max_rows,
					    &e->answer, &e->read_err);
	metric_add(e->all->rows, e->answer.count);
	clickhouse_set_task(call.ch, NULL);
	query_ender_finish(uses->ender, &e->task);
}

static void write_lines(void *arg, unsigned index)
{
	struct export *e = arg;

	(void)index;
	e->write_status = export_writer_put(&e->writer, &e->reader.question,
					    &e->reader.scan.range, &e->written,
					    &e->out, &e->write_err);
	buf_free(&e->written.rows);
}

/* --- the loop ------------------------------------------------------------- */

static void export_free(struct export *e)
{
	if (e->has_slot) {
		slots_give_back(e->all->slots, e->reader.access.who.name);
		metric_add(e->all->running, UINT64_MAX);
	}
	export_reader_release(&e->reader);
	export_writer_release(&e->writer);
	buf_free(&e->answer.rows);
	buf_free(&e->written.rows);
	buf_free(&e->out);
	free(e);
}

/* The request is not used after this. */
static void end_export(struct export *e)
{
	http_stream_end(e->req);
	export_free(e);
}

static void begin_response(struct export *e)
{
	const struct http_field fields[] = {
		{"Content-Encoding", encoding_name(e->writer.encoding)},
		{"Content-Type", e->reader.question.format == EXPORT_CSV
					 ? "text/csv; charset=utf-8"
					 : "application/x-ndjson"},
		{"Vary", "Accept, Accept-Encoding"},
		{"Cache-Control", "no-store"},
		{"X-Content-Type-Options", "nosniff"},
		{NULL, NULL}};

	http_stream_begin(e->req, 200,
			  e->writer.encoding == ENCODING_IDENTITY ? fields + 1
								  : fields);
	e->begun = true;
}

/* A body without an end shows the failure to a client that has part of its
 * answer. */
static void fail_export(struct export *e)
{
	struct exports *x = e->all;

	if (e->begun) {
		metric_add(x->failed, 1);
		log_warn(x->uses.log, "export broken off", log_err(&e->err));
		http_stream_break(e->req);
		end_export(e);
		return;
	}
	problem_reply(e->req, x->uses.log, &e->err);
	export_free(e);
}

/* Busy workers have to finish first. */
static void end_unfinished(struct export *e)
{
	if (e->reading == BUSY || e->writing == BUSY)
		return;
	if (e->gone)
		end_export(e);
	else
		fail_export(e);
}

static void break_off(struct export *e, const struct error *err)
{
	e->broken = true;
	e->err = *err;
}

static size_t rows_at_once(const struct export *e)
{
	size_t bytes = e->writer.row_bytes, rows = e->page_rows;

	if (bytes && rows > PAGE_BYTES / bytes)
		rows = PAGE_BYTES / bytes;
	return rows < PAGE_ROWS ? PAGE_ROWS : rows;
}

static void on_read(void *arg);
static void on_written(void *arg);

static void start_step(struct export *e, enum step *step,
		       struct workers *workers,
		       void (*work)(void *arg, unsigned index),
		       void (*done)(void *arg))
{
	struct error err = {0};

	*step = BUSY;
	if (workers_submit(workers, e->loop, work, done, e, &err) == 0)
		return;
	*step = IDLE;
	break_off(e, &err);
}

static void start_reading(struct export *e)
{
	e->max_rows = rows_at_once(e);
	start_step(e, &e->reading, e->all->readers, read_rows, on_read);
}

/* Starts to write the answer that was read.  The next one is read meanwhile. */
static void start_writing(struct export *e)
{
	if (e->read_status < 0) {
		break_off(e, &e->read_err);
		return;
	}
	e->written = e->answer;
	e->answer = (struct export_answer){0};
	e->reading = IDLE;
	if (e->written.end == EXPORT_GOES_ON)
		start_reading(e);
	start_step(e, &e->writing, e->all->writers, write_lines, on_written);
}

/* Returns false if that was the end of the export. */
static bool send_portion(struct export *e)
{
	e->writing = IDLE;
	if (!e->begun)
		begin_response(e);
	http_stream_write(e->req, e->out.data, e->out.len);
	buf_reset(&e->out);
	if (e->written.end == EXPORT_GOES_ON)
		return true;
	end_export(e);
	return false;
}

/* Takes the steps that are possible now. */
static void advance_export(struct export *e)
{
	if (e->broken || e->gone) {
		end_unfinished(e);
		return;
	}
	if (e->writing == FINISHED &&
	    http_stream_pending(e->req) <= DRAIN_MARK && !send_portion(e))
		return;
	if (e->writing == IDLE && e->reading == FINISHED)
		start_writing(e);
	if (e->broken)
		end_unfinished(e);
}

static void on_read(void *arg)
{
	struct export *e = arg;

	e->reading = FINISHED;
	advance_export(e);
}

static void on_written(void *arg)
{
	struct export *e = arg;

	e->writing = FINISHED;
	if (e->write_status < 0)
		break_off(e, &e->write_err);
	else if (!e->gone && http_stream_pending(e->req) > DRAIN_MARK)
		e->page_rows = PAGE_ROWS;
	else if (e->page_rows < PAGE_ROWS_MAX)
		e->page_rows *= 2;
	advance_export(e);
}

static void on_drained(struct http_request *req, void *arg)
{
	(void)req;
	advance_export(arg);
}

static void on_abort(struct http_request *req, void *arg)
{
	struct export *e = arg;

	(void)req;
	e->gone = true;
	/* Workers that have ended return no results. */
	if (!e->all->readers)
		e->reading = e->writing = IDLE;
	if (e->reading == BUSY)
		query_ender_cancel(e->all->uses.ender, &e->task);
	end_unfinished(e);
}

static void on_stop(struct http_request *req, void *arg)
{
	struct export *e = arg;

	(void)req;
	atomic_store(&e->reader.stop, true);
}

/* Returns false if the request was answered. */
static bool take_slot(struct export *e)
{
	struct exports *x = e->all;
	enum slots_answer slot =
		slots_take(x->slots, e->reader.access.who.name);

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

	if (!api_keys_admit(e->reader.access.keys, req, &e->reader.access)) {
		export_free(e);
		return;
	}
	if (!encoding_choose(&accepted, SIZE_MAX, &e->writer.encoding)) {
		problem_reply_not_acceptable(req);
		export_free(e);
		return;
	}
	if (!take_slot(e)) {
		export_free(e);
		return;
	}
	e->reader.query = strndup(query.data ? query.data : "", query.len);
	if (!e->reader.query) {
		error_set_nomem(&e->err);
		fail_export(e);
		return;
	}
	e->reader.likes = liked_format(req);
	e->reader.head = http_method_is(req, "HEAD");
	start_reading(e);
	advance_export(e);
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
	e->reader.access.keys = x->uses.keys;
	e->task.priority = EXPORT_PRIORITY;
	query_ender_name(x->uses.ender, &e->task);
	http_stream_accept(req, &handler, e);
}

/* --- start and end -------------------------------------------------------- */

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
	x->readers = workers_new((unsigned)count, (size_t)s->exports_max, err);
	if (!x->readers)
		return -1;
	x->writers = workers_new((unsigned)count, (size_t)s->exports_max, err);
	return x->writers ? 0 : -1;
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
	workers_free(x->readers);
	workers_free(x->writers);
	x->readers = x->writers = NULL;
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
