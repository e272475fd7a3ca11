/*
 * POST /v1/links/batch: creates a link per line.
 *
 * Each line is the body of a single create, and is answered by the object that
 * answers it.
 */
#include <stdlib.h>

#include "allocator/api/api_reply.h"
#include "allocator/api/handlers.h"
#include "allocator/create/create.h"
#include "allocator/create/idempotency.h"
#include "allocator/link/link_view.h"

/* The Idempotency-Key of all lines; {NULL, 0}: none. */
struct create_lines {
	struct http_slice key;
};

/* A line that is being created. */
struct create_line {
	struct running_batch *batch;
	struct link_request request;
	uint64_t place, number;
};

/* --- answers -------------------------------------------------------------- */

static void put_created(const struct create_line *line,
			const struct creation_result *result, struct buf *out)
{
	struct link_view view;

	if (!result->link) {
		batch_put_problem(out, line->number, result->status,
				  result->type, result->detail);
		return;
	}
	view = (struct link_view){
		.base_url = link_view_base_url(
			&batch_all(line->batch)->defaults->rules, result->link),
		.space = result->space->name,
		.code = result->code,
		.link = result->link,
		.expires = result->expires,
	};
	link_view_write(&view, out);
	buf_putc(out, '\n');
}

static struct metric *outcome_of_creation(const struct batches *all,
					  const struct creation_result *result)
{
	if (result->status == 201 && !result->replayed)
		return all->metrics->created;
	return result->status < 300 ? all->metrics->present
				    : batch_outcome_of(all, result->status);
}

static void count_refused(struct running_batch *b, int status)
{
	const struct batches *all = batch_all(b);
	const struct creation_metrics *m = all->creation->metrics;

	if (status == 403 || status == 408 || status == 429)
		metric_add(m->denied, 1);
	else if (status < 500)
		metric_add(m->invalid, 1);
}

/* --- a line --------------------------------------------------------------- */

static void on_created(void *arg, const struct creation_result *result)
{
	struct create_line *line = arg;
	struct running_batch *b = line->batch;
	uint64_t place = line->place;

	put_created(line, result, batch_answer(b, place));
	link_request_release(&line->request);
	free(line);
	batch_end_line(b, place, outcome_of_creation(batch_all(b), result));
}

static void begin_creation(struct create_line *line, struct http_slice text)
{
	struct running_batch *b = line->batch;
	const struct create_lines *lines = batch_data(b);
	const struct creation_order order = {.request = &line->request,
					     .caller = batch_caller(b),
					     .key = lines->key,
					     .line = line->number,
					     .body = text,
					     .source = batch_source(b)};

	line->place = batch_begin_line(b, text.len);
	create_link(batch_all(b)->creation, &order, on_created, line);
}

static void take_link_line(struct running_batch *b, struct http_slice text)
{
	struct create_line *line = malloc(sizeof(*line));
	struct error err;

	if (!line) {
		batch_refuse_line(b, 500, "out of memory");
		return;
	}
	line->batch = b;
	line->number = batch_line_number(b);
	if (link_request_parse(&line->request, batch_all(b)->defaults,
			       batch_caller(b), text, &err) == 0) {
		begin_creation(line, text);
		return;
	}
	api_refuse_line(b, &err, &line->request.fields.mistakes, "");
	link_request_release(&line->request);
	free(line);
}

/* --- start ---------------------------------------------------------------- */

static const struct batch_kind create_kind = {
	.lines = "links",
	.denied = "this API key may not create links any more",
	.take = take_link_line,
	.count_refused = count_refused,
	.free_data = free,
};

void handle_batch(const struct api_call *call)
{
	struct batches *all = &call->api->batches;
	struct http_slice key = http_header_get(call->req, "Idempotency-Key");
	struct create_lines *lines;

	if (key.data && !idempotency_key_is_valid(key)) {
		metric_add(all->metrics->refused, 1);
		http_reply_problem(call->req, 400, NULL,
				   IDEMPOTENCY_KEY_EXPECTED);
		return;
	}
	lines = malloc(sizeof(*lines));
	if (!lines) {
		http_reply_problem(call->req, 500, NULL, "out of memory");
		return;
	}
	lines->key = key;
	batch_handle(all, &create_kind, lines, call->req, call->caller);
}
