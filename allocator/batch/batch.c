#include "allocator/batch/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/batch/line_splitter.h"
#include "allocator/batch/reorder_buffer.h"
#include "common/clock.h"
#include "common/http/problem_type.h"

#define NS_PER_MS INT64_C(1000000)

enum {
	/* Interval (ms) at which a client is checked while its batch waits for
	 * its rate. */
	CLIENT_CHECK_EVERY = 500,
	FAILURE_MAX = 256,
};

/*
 * READING ---> BODY_ENDED ---> DRAINING
 *    |              |
 *    +--> OVERDUE <-+
 *    |       |      |
 *    +----> LATE <--+
 *
 * Each state may change to ABANDONED.  Lines are taken only in READING and
 * BODY_ENDED.  In DRAINING, LATE and ABANDONED the batch ends when none of its
 * lines is in flight.
 */
enum batch_state {
	BATCH_READING,
	BATCH_BODY_ENDED, /* a last line without LF may still wait */
	BATCH_DRAINING,	  /* all lines are taken */
	/* time_max is over, or there are no lines to be had; waits for a
	 * position to report it. */
	BATCH_OVERDUE,
	BATCH_LATE,	 /* the next line has been refused */
	BATCH_ABANDONED, /* the client has gone, or cannot be answered */
};

struct running_batch {
	struct batches *all;
	const struct batch_kind *kind;
	void *data;			   /* the kind's */
	struct running_batch *prev, *next; /* in the list of running batches */
	struct http_request *req;
	struct http_stream_handler handler;
	struct api_key_info caller;
	struct audit_source source;

	enum batch_state state;
	bool paused;  /* the client has sent more than was taken */
	bool entered; /* in use further up the stack: must not be freed */
	bool fed;     /* its lines are not the request's body */
	/* OVERDUE: the reason, unless it is the time. */
	struct {
		int status; /* 0: it is the time */
		char text[FAILURE_MAX];
	} failure;
	struct loop_timer *time_timer; /* for time_max */

	struct line_splitter lines;
	struct http_slice last; /* a last line without LF, in `lines` */
	struct reorder_buffer *answers;
	struct buf out; /* answers on their way to the client */

	/* The token of the caller's rate for the next line. */
	struct {
		bool taken;
		int64_t waiting_since; /* ns; 0: it is not waiting */
		int64_t waited;	       /* earlier waits of all lines (ns) */
		struct loop_timer *timer;
	} token;
};

/* --- metrics -------------------------------------------------------------- */

static void register_bounds(const struct allocator_settings *settings,
			    struct metrics *m)
{
	metric_set(metrics_gauge(m, "shortloop_allocator_batches_max", NULL,
				 "Batches that are allowed, all threads "
				 "together"),
		   settings->batches_max * settings->threads);
	metric_set(metrics_gauge(
			   m, "shortloop_allocator_batch_lines_in_flight_max",
			   NULL, "Lines of a batch that may be in flight"),
		   settings->batch_in_flight);
	metric_set(metrics_gauge(m, "shortloop_allocator_batch_bytes_max", NULL,
				 "Bytes that a batch may hold of lines, and of "
				 "answers"),
		   settings->batch_bytes);
}

void batch_metrics_register(struct batch_metrics *bm,
			    const struct allocator_settings *settings,
			    struct metrics *m)
{
	static const char batches[] = "shortloop_allocator_batches_total";
	static const char batches_help[] = "Batches, when they ended";
	static const char lines[] = "shortloop_allocator_batch_lines_total";
	static const char lines_help[] = "Lines of batches, by their answer";

	bm->complete = metrics_counter(m, batches, "outcome=\"complete\"",
				       batches_help);
	bm->aborted = metrics_counter(m, batches, "outcome=\"aborted\"",
				      batches_help);
	bm->refused = metrics_counter(m, batches, "outcome=\"refused\"",
				      batches_help);
	bm->late =
		metrics_counter(m, batches, "outcome=\"late\"", batches_help);
	bm->running = metrics_gauge(m, "shortloop_allocator_batches", NULL,
				    "Batches under way");
	bm->in_flight =
		metrics_gauge(m, "shortloop_allocator_batch_lines_in_flight",
			      NULL, "Lines of batches being worked on");
	bm->created =
		metrics_counter(m, lines, "outcome=\"created\"", lines_help);
	bm->present =
		metrics_counter(m, lines, "outcome=\"present\"", lines_help);
	bm->changed =
		metrics_counter(m, lines, "outcome=\"changed\"", lines_help);
	bm->unchanged =
		metrics_counter(m, lines, "outcome=\"unchanged\"", lines_help);
	bm->invalid =
		metrics_counter(m, lines, "outcome=\"invalid\"", lines_help);
	bm->denied =
		metrics_counter(m, lines, "outcome=\"denied\"", lines_help);
	bm->failed =
		metrics_counter(m, lines, "outcome=\"failed\"", lines_help);
	register_bounds(settings, m);
}

/* --- end ------------------------------------------------------------------ */

static void free_kind_data(const struct batch_kind *kind, void *data)
{
	if (kind->free_data)
		kind->free_data(data);
}

static void batch_free(struct running_batch *b)
{
	free_kind_data(b->kind, b->data);
	loop_timer_free(b->token.timer);
	loop_timer_free(b->time_timer);
	line_splitter_free(&b->lines);
	reorder_buffer_free(b->answers);
	buf_free(&b->out);
	free(b);
}

static struct metric *outcome_of_batch(const struct running_batch *b)
{
	const struct batch_metrics *m = b->all->metrics;

	if (b->state == BATCH_ABANDONED)
		return m->aborted;
	return b->state == BATCH_LATE ? m->late : m->complete;
}

static void unlist_batch(struct running_batch *b)
{
	if (b->prev)
		b->prev->next = b->next;
	else
		b->all->first = b->next;
	if (b->next)
		b->next->prev = b->prev;
	b->all->running--;
	metric_add(b->all->metrics->running, UINT64_MAX);
}

/* Ends and frees the batch if there is nothing left to do for it. */
static void end_if_done(struct running_batch *b)
{
	if (b->entered || reorder_buffer_count(b->answers) > 0 ||
	    !(b->state == BATCH_DRAINING || b->state == BATCH_LATE ||
	      b->state == BATCH_ABANDONED))
		return;
	metric_add(outcome_of_batch(b), 1);
	unlist_batch(b);
	if (b->state == BATCH_DRAINING && b->kind->finish) {
		b->kind->finish(b, &b->out);
		http_stream_write(b->req, b->out.data, b->out.len);
	}
	/* Some lines are not answered, and the client must notice. */
	if (b->state == BATCH_LATE)
		http_stream_break(b->req);
	http_stream_end(b->req);
	batch_free(b);
}

static void abandon_batch(struct running_batch *b)
{
	b->state = BATCH_ABANDONED;
	http_stream_break(b->req);
}

/* --- answer of a line ----------------------------------------------------- */

struct metric *batch_outcome_of(const struct batches *all, int status)
{
	const struct batch_metrics *m = all->metrics;

	if (status == 403 || status == 408 || status == 409 || status == 429 ||
	    status == 451)
		return m->denied;
	return status < 500 ? m->invalid : m->failed;
}

/* Call it when the answer of this position is written. */
static void send_answer(struct running_batch *b, uint64_t position,
			struct metric *outcome)
{
	reorder_buffer_release(b->answers, position, &b->out);
	metric_add(outcome, 1);
	/* If answers are lost, the client must not take those it received for
	 * all. */
	if (b->out.failed)
		abandon_batch(b);
	http_stream_write(b->req, b->out.data, b->out.len);
	buf_reset(&b->out);
}

static void put_problem(struct buf *out, uint64_t line, int status,
			const char *type, const char *detail,
			const char *members)
{
	buf_printf(out, "{\"line\":%llu,", (unsigned long long)line);
	http_problem_put(out, status, type, detail);
	buf_puts(out, members);
	buf_puts(out, "}\n");
}

void batch_put_problem(struct buf *out, uint64_t line, int status,
		       const char *type, const char *detail)
{
	put_problem(out, line, status, type, detail, "");
}

/* Answers the line with a problem.  `type`: NULL stands for that of the status.
 */
static void refuse_with(struct running_batch *b, uint64_t number, int status,
			const char *type, const char *detail,
			const char *members)
{
	uint64_t position = reorder_buffer_reserve(b->answers, 0);

	put_problem(reorder_buffer_answer(b->answers, position, &b->out),
		    number, status, type, detail, members);
	if (b->kind->count_refused)
		b->kind->count_refused(b, status);
	send_answer(b, position, batch_outcome_of(b->all, status));
}

static void refuse_line(struct running_batch *b, uint64_t number, int status,
			const char *type, const char *detail)
{
	refuse_with(b, number, status, type, detail, "");
}

/* Has the kind work on the line that was read last. */
static void work_on_line(struct running_batch *b, struct http_slice text)
{
	if (api_keyring_still_may(b->all->keys, &b->caller, API_CREATE))
		b->kind->take(b, text);
	else
		refuse_line(b, b->lines.number, 403, NULL, b->kind->denied);
}

/* --- room ----------------------------------------------------------------- */

static bool has_room(const struct running_batch *b)
{
	return !reorder_buffer_is_full(b->answers) &&
	       reorder_buffer_bytes(b->answers) < b->all->bytes_max &&
	       http_stream_pending(b->req) < b->all->bytes_max;
}

/* Returns whether there is so much room that it will not be full again at
 * once. */
static bool has_much_room(const struct running_batch *b)
{
	return reorder_buffer_count(b->answers) <= b->all->in_flight_max / 2 &&
	       reorder_buffer_bytes(b->answers) <= b->all->bytes_max / 2 &&
	       http_stream_pending(b->req) <= b->all->bytes_max / 2;
}

static bool takes_lines(const struct running_batch *b)
{
	return b->state == BATCH_READING || b->state == BATCH_BODY_ENDED;
}

/* --- time and rate -------------------------------------------------------- */

/* Refuses the next line, and takes no more: the batch has done `what` for `ms`,
 * the limit. */
static void give_up(struct running_batch *b, int status, const char *what,
		    int64_t ms)
{
	char text[160], name[DURATION_TEXT_MAX];

	snprintf(text, sizeof(text),
		 "the batch has %s %s: send what is not answered again", what,
		 duration_format(ms, name));
	b->state = BATCH_LATE;
	refuse_line(b, b->lines.number + 1, status,
		    status == 429 ? PROBLEM_RATE : NULL, text);
}

/* Waits for a token, which will be there in `wait_ms`. */
static void wait_for_token(struct running_batch *b, int64_t now,
			   int64_t wait_ms)
{
	int64_t waited;

	if (!b->token.waiting_since) {
		b->token.waiting_since = now;
		metric_add(b->caller.limited, 1);
	}
	waited = (b->token.waited + now - b->token.waiting_since) / NS_PER_MS;
	if (waited + wait_ms > b->all->wait_max)
		give_up(b, 429, "waited for the rate of its API key for",
			b->all->wait_max);
	else
		loop_timer_set(b->token.timer, wait_ms < CLIENT_CHECK_EVERY
						       ? wait_ms
						       : CLIENT_CHECK_EVERY);
}

/* Takes a token for the next line.  Returns false if there is none yet; the
 * batch proceeds when there is one. */
static bool take_token(struct running_batch *b)
{
	int64_t now, wait_ms;

	if (b->token.taken)
		return true;
	now = clock_monotonic_ns();
	b->token.taken = rate_limiter_take(b->caller.limiter, 1, now, &wait_ms);
	if (!b->token.taken) {
		wait_for_token(b, now, wait_ms);
	} else if (b->token.waiting_since) {
		b->token.waited += now - b->token.waiting_since;
		b->token.waiting_since = 0;
	}
	return b->token.taken;
}

/* Refuses the next line of an OVERDUE batch as soon as a position is free for
 * it. */
static void end_overdue(struct running_batch *b)
{
	if (b->state != BATCH_OVERDUE || reorder_buffer_is_full(b->answers))
		return;
	if (b->failure.status) {
		b->state = BATCH_LATE;
		refuse_line(b, b->lines.number + 1, b->failure.status, NULL,
			    b->failure.text);
	} else {
		give_up(b, 408, "lasted for allocator.batch_time_max,",
			b->all->time_max);
	}
}

/* --- taking lines --------------------------------------------------------- */

/* Takes the next line of `data`.  Returns false if it is not complete yet. */
static bool take_line(struct running_batch *b, struct http_slice *data)
{
	struct http_slice line;

	switch (line_splitter_next(&b->lines, data, &line)) {
	case LINE_MORE:
		return false;
	case LINE_COMPLETE:
		work_on_line(b, line);
		break;
	case LINE_TOO_LONG:
		refuse_line(b, b->lines.number, 413, NULL,
			    "the line is longer than 65536 bytes; a link does "
			    "not need as many");
		break;
	case LINE_NO_MEMORY:
		refuse_line(b, b->lines.number, 500, NULL, "out of memory");
		break;
	}
	b->token.taken = false;
	return true;
}

/* The text after the last LF is a line, too. */
static void take_last_line(struct running_batch *b)
{
	if (b->state != BATCH_BODY_ENDED)
		return;
	if (b->last.len > 0 && !(has_room(b) && take_token(b)))
		return;
	b->state = BATCH_DRAINING;
	if (b->last.len > 0)
		work_on_line(b, b->last);
}

/* Call it after an event that may free room or end the batch.  The batch may be
 * freed when this returns. */
static void continue_batch(struct running_batch *b)
{
	if (b->entered)
		return;
	if (b->paused && takes_lines(b) && has_much_room(b)) {
		b->paused = false;
		if (b->fed) {
			b->kind->more(b);
			return;
		}
		http_stream_resume(b->req);
	}
	b->entered = true;
	take_last_line(b);
	end_overdue(b);
	b->entered = false;
	end_if_done(b);
}

/* Returns whether part of a line may be taken.  The rest of a line that is
 * already answered costs no token. */
static bool may_take_line(struct running_batch *b, struct http_slice *data)
{
	line_splitter_skip(&b->lines, data);
	return data->len > 0 && has_room(b) && take_token(b);
}

/* --- for kinds ------------------------------------------------------------ */

const struct batches *batch_all(const struct running_batch *b)
{
	return b->all;
}

const struct api_key_info *batch_caller(const struct running_batch *b)
{
	return &b->caller;
}

const struct audit_source *batch_source(const struct running_batch *b)
{
	return &b->source;
}

void *batch_data(const struct running_batch *b)
{
	return b->data;
}

uint64_t batch_line_number(const struct running_batch *b)
{
	return b->lines.number;
}

void batch_refuse_line(struct running_batch *b, int status, const char *detail)
{
	refuse_line(b, b->lines.number, status, NULL, detail);
}

void batch_refuse_fields(struct running_batch *b, int status,
			 const char *detail, const char *members)
{
	refuse_with(b, b->lines.number, status, NULL, detail, members);
}

uint64_t batch_begin_line(struct running_batch *b, size_t bytes)
{
	metric_add(b->all->metrics->in_flight, 1);
	return reorder_buffer_reserve(b->answers, bytes);
}

struct buf *batch_answer(struct running_batch *b, uint64_t place)
{
	return reorder_buffer_answer(b->answers, place, &b->out);
}

void batch_end_line(struct running_batch *b, uint64_t place,
		    struct metric *outcome)
{
	metric_add(b->all->metrics->in_flight, UINT64_MAX);
	send_answer(b, place, outcome);
	continue_batch(b);
}

/* --- callbacks from the stream and the loop ------------------------------- */

size_t batch_feed(struct running_batch *b, struct http_slice data)
{
	size_t before = data.len;

	b->entered = true;
	while (takes_lines(b) && may_take_line(b, &data) && take_line(b, &data))
		;
	b->entered = false;
	b->paused = data.len > 0;
	end_if_done(b);
	return before - data.len;
}

static size_t on_data(struct http_request *req, struct http_slice data,
		      void *arg)
{
	(void)req;
	return batch_feed(arg, data);
}

void batch_feed_end(struct running_batch *b)
{
	if (b->state == BATCH_READING)
		b->state = BATCH_BODY_ENDED;
	continue_batch(b);
}

void batch_feed_fail(struct running_batch *b, int status, const char *detail)
{
	if (takes_lines(b)) {
		b->state = BATCH_OVERDUE;
		b->failure.status = status;
		snprintf(b->failure.text, sizeof(b->failure.text), "%s",
			 detail);
	}
	continue_batch(b);
}

static void on_end(struct http_request *req, void *arg)
{
	struct running_batch *b = arg;
	struct http_slice line;

	(void)req;
	if (b->state == BATCH_READING)
		b->state = BATCH_BODY_ENDED;
	if (line_splitter_last(&b->lines, &line) == LINE_COMPLETE)
		b->last = line;
	continue_batch(b);
}

void batch_client_gone(struct running_batch *b)
{
	b->state = BATCH_ABANDONED;
	continue_batch(b);
}

void batch_client_reads(struct running_batch *b)
{
	continue_batch(b);
}

static void on_abort(struct http_request *req, void *arg)
{
	(void)req;
	batch_client_gone(arg);
}

static void on_drained(struct http_request *req, void *arg)
{
	(void)req;
	batch_client_reads(arg);
}

/* Nothing is read from a client whose batch waits for its rate, so only this
 * check detects that the client has gone. */
static void on_token_timer(void *arg)
{
	struct running_batch *b = arg;

	if (b->token.waiting_since && b->state != BATCH_ABANDONED &&
	    http_stream_client_left(b->req))
		abandon_batch(b);
	continue_batch(b);
}

static void on_time_over(void *arg)
{
	struct running_batch *b = arg;

	if (takes_lines(b))
		b->state = BATCH_OVERDUE;
	continue_batch(b);
}

/* --- start ---------------------------------------------------------------- */

static bool is_ndjson(const struct http_request *req)
{
	return (http_type_is(req, "application/x-ndjson") ||
		http_type_is(req, "application/jsonl")) &&
	       http_header_get(req, "Content-Encoding").len == 0;
}

static const struct http_field answer_fields[] = {
	{"Content-Type", "application/x-ndjson"},
	{"Cache-Control", "no-store"},
	{0}};
static const struct http_field soon[] = {{"Retry-After", "1"}, {0}};

static size_t count_of(const struct batches *all, const char *account)
{
	size_t count = 0;

	for (const struct running_batch *b = all->first; b; b = b->next)
		count += !strcmp(b->caller.account, account);
	return count;
}

/* Returns false if the batch cannot be taken; the request has been answered
 * then. */
static bool may_begin(const struct batches *all, struct http_request *req,
		      const struct api_key_info *caller)
{
	if (count_of(all, caller->account) >= all->account_max) {
		http_reply_problem(req, 429, soon,
				   "%zu batches of the account '%s' are under "
				   "way, as many as it may have at a time",
				   all->account_max, caller->account);
		return false;
	}
	if (all->running >= all->batches_max) {
		http_reply_problem(req, 503, NULL,
				   "%zu batches are under way, as many as "
				   "there may be at a time",
				   all->running);
		return false;
	}
	return true;
}

/* Takes `data`, also if it fails. */
static struct running_batch *batch_new(struct batches *all,
				       const struct batch_kind *kind,
				       void *data, struct http_request *req,
				       const struct api_key_info *caller,
				       struct error *err)
{
	struct running_batch *b = calloc(1, sizeof(*b));

	if (!b) {
		free_kind_data(kind, data);
		error_set_nomem(err);
		return NULL;
	}
	b->all = all;
	b->kind = kind;
	b->data = data;
	b->req = req;
	b->caller = *caller;
	b->source = audit_source_of(req, b->caller.name);
	b->lines.max = BATCH_LINE_MAX;
	b->handler = (struct http_stream_handler){
		.on_data = on_data,
		.on_end = on_end,
		.on_abort = on_abort,
		.on_drained = on_drained,
		.drain_mark = all->bytes_max / 2,
	};
	b->answers = reorder_buffer_new(all->in_flight_max, err);
	if (b->answers)
		b->token.timer =
			loop_timer_new(all->loop, on_token_timer, b, err);
	if (b->token.timer)
		b->time_timer = loop_timer_new(all->loop, on_time_over, b, err);
	if (b->time_timer)
		return b;
	batch_free(b);
	return NULL;
}

struct running_batch *batch_open(struct batches *all,
				 const struct batch_kind *kind, void *data,
				 struct http_request *req,
				 const struct api_key_info *caller)
{
	struct running_batch *b;
	struct error err;

	if (!may_begin(all, req, caller)) {
		free_kind_data(kind, data);
		metric_add(all->metrics->refused, 1);
		return NULL;
	}
	b = batch_new(all, kind, data, req, caller, &err);
	if (!b) {
		metric_add(all->metrics->refused, 1);
		http_reply_problem(req, 503, NULL, "%s", err.text);
		return NULL;
	}
	b->fed = kind->more != NULL;
	b->next = all->first;
	if (b->next)
		b->next->prev = b;
	all->first = b;
	all->running++;
	metric_add(all->metrics->running, 1);
	loop_timer_set(b->time_timer, all->time_max);
	if (!b->fed)
		http_stream_accept(req, &b->handler, b);
	http_stream_begin(req, 200, answer_fields);
	return b;
}

void batch_handle(struct batches *all, const struct batch_kind *kind,
		  void *data, struct http_request *req,
		  const struct api_key_info *caller)
{
	if (is_ndjson(req)) {
		batch_open(all, kind, data, req, caller);
		return;
	}
	free_kind_data(kind, data);
	metric_add(all->metrics->refused, 1);
	http_reply_problem(req, 415, NULL,
			   "send the %s as Content-Type: "
			   "application/x-ndjson, an object a line, "
			   "without Content-Encoding",
			   kind->lines);
}
