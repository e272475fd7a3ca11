#include "allocator/batch/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/batch/parts.h"
#include "common/clock.h"

#define NS_PER_MS INT64_C(1000000)

enum {
	/* How often a client that waits for its rate is looked after (ms). */
	LOOK_EVERY = 500
};

/* --- the end -------------------------------------------------------------- */

static void batch_free(struct batch *b)
{
	if (!b)
		return;
	loop_timer_free(b->timer);
	loop_timer_free(b->end);
	lines_free(&b->lines);
	ring_free(b->ring);
	buf_free(&b->out);
	free(b);
}

static struct metric *outcome(const struct batch *b)
{
	const struct batch_metrics *m = b->parts->metrics;

	if (b->gone)
		return m->aborted;
	return b->late ? m->late : m->complete;
}

static void leave(struct batch *b)
{
	if (b->prev)
		b->prev->next = b->next;
	else
		b->parts->first = b->next;
	if (b->next)
		b->next->prev = b->prev;
	b->parts->running--;
	metric_add(b->parts->metrics->running, UINT64_MAX);
}

/* Ends the batch if nothing of it is left to be done; it is gone then. */
static void end_if_done(struct batch *b)
{
	if (b->busy || ring_count(b->ring) > 0 ||
	    !(b->gone || b->taken || b->late))
		return;
	metric_add(outcome(b), 1);
	leave(b);
	/* Its lines are not all answered, and must not seem to be. */
	if (b->late)
		http_stream_break(b->req);
	http_stream_end(b->req);
	batch_free(b);
}

/* --- room ----------------------------------------------------------------- */

static bool has_room(const struct batch *b)
{
	return !ring_is_full(b->ring) &&
	       ring_bytes(b->ring) < b->parts->bytes_max &&
	       http_stream_pending(b->req) < b->parts->bytes_max;
}

/* With some way to go before it is full again. */
static bool has_much_room(const struct batch *b)
{
	return ring_count(b->ring) <= b->parts->in_flight_max / 2 &&
	       ring_bytes(b->ring) <= b->parts->bytes_max / 2 &&
	       http_stream_pending(b->req) <= b->parts->bytes_max / 2;
}

/* `what` the batch has done for `ms`, as long as it may. */
static void give_up(struct batch *b, int status, const char *what, int64_t ms)
{
	char text[160], name[DURATION_TEXT_MAX];

	snprintf(text, sizeof(text),
		 "the batch has %s %s: send what is not answered again", what,
		 duration_format(ms, name));
	b->late = true;
	batch_refuse_line(b, b->lines.number + 1, status, text);
}

/* There will be a token in `wait_ms`. */
static void wait_for_token(struct batch *b, int64_t now, int64_t wait_ms)
{
	int64_t waited;

	if (!b->waiting_since) {
		b->waiting_since = now;
		metric_add(b->caller.limited, 1);
	}
	waited = (b->waited + now - b->waiting_since) / NS_PER_MS;
	if (waited + wait_ms > b->parts->wait_max)
		give_up(b, 429, "waited for the rate of its API key for",
			b->parts->wait_max);
	else
		loop_timer_set(b->timer,
			       wait_ms < LOOK_EVERY ? wait_ms : LOOK_EVERY);
}

/* Takes a token for the next line, or has the batch go on once there is one. */
static bool pay(struct batch *b)
{
	int64_t now, wait_ms;

	if (b->paid)
		return true;
	now = clock_monotonic_ns();
	b->paid = rate_limiter_take(b->caller.limiter, 1, now, &wait_ms);
	if (!b->paid) {
		wait_for_token(b, now, wait_ms);
	} else if (b->waiting_since) {
		b->waited += now - b->waiting_since;
		b->waiting_since = 0;
	}
	return b->paid;
}

static bool takes_lines(const struct batch *b)
{
	return !b->gone && !b->late && !b->overdue;
}

/* --- lines ---------------------------------------------------------------- */

/* Takes up the next line.  False: there is none yet. */
static bool take_line(struct batch *b, struct http_slice *data)
{
	struct http_slice line;

	switch (lines_next(&b->lines, data, &line)) {
	case LINES_MORE:
		return false;
	case LINES_LINE:
		batch_create_line(b, line);
		break;
	case LINES_TOO_LONG:
		batch_refuse_line(
			b, b->lines.number, 413,
			"the line is longer than 65536 bytes; a link does not "
			"need as many");
		break;
	case LINES_NO_MEMORY:
		batch_refuse_line(b, b->lines.number, 500, "out of memory");
		break;
	}
	b->paid = false;
	return true;
}

/* --- calls from the stream and the loop ----------------------------------- */

static size_t on_data(struct http_request *req, struct http_slice data,
		      void *arg)
{
	struct batch *b = arg;
	size_t before = data.len;

	(void)req;
	b->busy = true;
	while (data.len > 0 && takes_lines(b) && has_room(b) && pay(b) &&
	       take_line(b, &data))
		;
	b->busy = false;
	b->paused = data.len > 0;
	end_if_done(b);
	return before - data.len;
}

/* What follows the last LF is a line, too. */
static void take_last_line(struct batch *b)
{
	if (!b->body_done || b->taken || !takes_lines(b))
		return;
	if (b->last.len > 0 && !(has_room(b) && pay(b)))
		return;
	b->taken = true;
	if (b->last.len > 0)
		batch_create_line(b, b->last);
}

/* The time is over: the next line is refused once there is a place for that. */
static void end_overdue(struct batch *b)
{
	if (b->overdue && !b->late && !b->gone && !b->taken &&
	    !ring_is_full(b->ring))
		give_up(b, 408, "lasted for allocator.batch_time_max,",
			b->parts->time_max);
}

void batch_proceed(struct batch *b)
{
	if (b->busy)
		return;
	if (b->paused && takes_lines(b) && has_much_room(b)) {
		b->paused = false;
		http_stream_resume(b->req);
	}
	b->busy = true;
	take_last_line(b);
	end_overdue(b);
	b->busy = false;
	end_if_done(b);
}

static void on_end(struct http_request *req, void *arg)
{
	struct batch *b = arg;
	struct http_slice line;

	(void)req;
	b->body_done = true;
	if (lines_last(&b->lines, &line) == LINES_LINE)
		b->last = line;
	batch_proceed(b);
}

static void on_abort(struct http_request *req, void *arg)
{
	struct batch *b = arg;

	(void)req;
	b->gone = true;
	batch_proceed(b);
}

static void on_drained(struct http_request *req, void *arg)
{
	(void)req;
	batch_proceed(arg);
}

/* Of a client that waits nothing is read, so nothing else would tell that it is
 * not there any more. */
static void on_timer(void *arg)
{
	struct batch *b = arg;

	if (b->waiting_since && !b->gone && http_stream_client_left(b->req)) {
		b->gone = true;
		http_stream_break(b->req);
	}
	batch_proceed(b);
}

static void on_time_over(void *arg)
{
	struct batch *b = arg;

	b->overdue = true;
	batch_proceed(b);
}

/* --- the beginning -------------------------------------------------------- */

static bool is_ndjson(const struct http_request *req)
{
	return (http_type_is(req, "application/x-ndjson") ||
		http_type_is(req, "application/jsonl")) &&
	       http_header_get(req, "Content-Encoding").len == 0;
}

static const struct http_field soon[] = {{"Retry-After", "1"}, {0}};

static size_t count_of(const struct batch_parts *parts, const char *account)
{
	size_t count = 0;

	for (const struct batch *b = parts->first; b; b = b->next)
		count += !strcmp(b->caller.account, account);
	return count;
}

/* Answers and returns false when the batch cannot be taken. */
static bool may_begin(const struct batch_parts *parts, struct http_request *req,
		      const struct api_key_info *caller)
{
	struct http_slice key = http_header_get(req, "Idempotency-Key");

	if (!is_ndjson(req)) {
		http_reply_problem(req, 415, NULL,
				   "send the links as Content-Type: "
				   "application/x-ndjson, an object a line, "
				   "without Content-Encoding");
		return false;
	}
	if (key.data && !create_key_is_good(key)) {
		http_reply_problem(req, 400, NULL, CREATE_KEY_EXPECTED);
		return false;
	}
	if (count_of(parts, caller->account) >= parts->account_max) {
		http_reply_problem(req, 429, soon,
				   "%zu batches of the account '%s' are under "
				   "way, as many as it may have at a time",
				   parts->account_max, caller->account);
		return false;
	}
	if (parts->running >= parts->batches_max) {
		http_reply_problem(req, 503, soon,
				   "%zu batches are under way, as many as "
				   "there may be at a time",
				   parts->running);
		return false;
	}
	return true;
}

static struct batch *batch_new(struct batch_parts *parts,
			       struct http_request *req,
			       const struct api_key_info *caller,
			       struct error *err)
{
	struct batch *b = calloc(1, sizeof(*b));

	if (!b) {
		error_set_nomem(err);
		return NULL;
	}
	b->parts = parts;
	b->req = req;
	b->caller = *caller;
	b->source = audit_source_of(req, b->caller.name);
	b->key = http_header_get(req, "Idempotency-Key");
	b->lines.max = BATCH_LINE_MAX;
	b->handler = (struct http_stream_handler){
		.on_data = on_data,
		.on_end = on_end,
		.on_abort = on_abort,
		.on_drained = on_drained,
		.drain_mark = parts->bytes_max / 2,
	};
	b->ring = ring_new(parts->in_flight_max, err);
	if (b->ring)
		b->timer = loop_timer_new(parts->loop, on_timer, b, err);
	if (b->timer)
		b->end = loop_timer_new(parts->loop, on_time_over, b, err);
	if (b->end)
		return b;
	batch_free(b);
	return NULL;
}

void batch_handle(struct batch_parts *parts, struct http_request *req,
		  const struct api_key_info *caller)
{
	static const struct http_field fields[] = {
		{"Content-Type", "application/x-ndjson"},
		{"Cache-Control", "no-store"},
		{0}};
	struct batch *b;
	struct error err;

	if (!may_begin(parts, req, caller)) {
		metric_add(parts->metrics->refused, 1);
		return;
	}
	b = batch_new(parts, req, caller, &err);
	if (!b) {
		metric_add(parts->metrics->refused, 1);
		http_reply_problem(req, 503, soon, "%s", err.text);
		return;
	}
	b->next = parts->first;
	if (b->next)
		b->next->prev = b;
	parts->first = b;
	parts->running++;
	metric_add(parts->metrics->running, 1);
	loop_timer_set(b->end, parts->time_max);
	http_stream_accept(req, &b->handler, b);
	http_stream_begin(req, 200, fields);
}
