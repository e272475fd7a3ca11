/* One line of a batch: from its text to its answer. */
#include <stdlib.h>

#include "allocator/batch/parts.h"
#include "allocator/link/link_view.h"

/* A line that is being created. */
struct batch_line {
	struct batch *batch;
	struct link_request request;
	uint64_t place, number;
};

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
	static const char batches_help[] = "Batches of links, when they ended";
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
			      NULL, "Lines of batches being created");
	bm->created =
		metrics_counter(m, lines, "outcome=\"created\"", lines_help);
	bm->present =
		metrics_counter(m, lines, "outcome=\"present\"", lines_help);
	bm->invalid =
		metrics_counter(m, lines, "outcome=\"invalid\"", lines_help);
	bm->denied =
		metrics_counter(m, lines, "outcome=\"denied\"", lines_help);
	bm->failed =
		metrics_counter(m, lines, "outcome=\"failed\"", lines_help);
	register_bounds(settings, m);
}

/* --- answering ------------------------------------------------------------ */

static struct metric *outcome(const struct batch_metrics *m, int status,
			      bool replayed)
{
	if (status == 201 && !replayed)
		return m->created;
	if (status < 300)
		return m->present;
	if (status == 403 || status == 408 || status == 409 || status == 429)
		return m->denied;
	return status < 500 ? m->invalid : m->failed;
}

/* An answer has been written to its place. */
static void answered(struct batch *b, uint64_t place, int status, bool replayed)
{
	ring_answered(b->ring, place, &b->out);
	metric_add(outcome(b->parts->metrics, status, replayed), 1);
	if (b->out.failed) {
		/* Answers are lost: the client must not take what it got for
		 * all of them. */
		b->gone = true;
		http_stream_break(b->req);
	}
	http_stream_write(b->req, b->out.data, b->out.len);
	buf_reset(&b->out);
}

static void put_problem(struct buf *out, uint64_t line, int status,
			const char *detail)
{
	buf_printf(out, "{\"line\":%llu,", (unsigned long long)line);
	http_problem_put(out, status, detail);
	buf_puts(out, "}\n");
}

void batch_refuse_line(struct batch *b, uint64_t number, int status,
		       const char *detail)
{
	uint64_t place = ring_ask(b->ring, 0);

	put_problem(ring_answer(b->ring, place, &b->out), number, status,
		    detail);
	if (status < 500)
		metric_add(b->parts->create->metrics->invalid, 1);
	answered(b, place, status, false);
}

static void put_result(const struct batch_line *line,
		       const struct create_result *result, struct buf *out)
{
	struct link_view view;

	if (!result->link) {
		put_problem(out, line->number, result->status, result->detail);
		return;
	}
	view = (struct link_view){
		.base_url = link_view_base_url(
			&line->batch->parts->defaults->rules, result->link),
		.space = result->space->name,
		.code = result->code,
		.link = result->link,
		.expires = result->expires,
	};
	link_view_write(&view, out);
	buf_putc(out, '\n');
}

/* --- creating ---------------------------------------------------------------
 */

static void on_created(void *arg, const struct create_result *result)
{
	struct batch_line *line = arg;
	struct batch *b = line->batch;

	put_result(line, result, ring_answer(b->ring, line->place, &b->out));
	metric_add(b->parts->metrics->in_flight, UINT64_MAX);
	answered(b, line->place, result->status, result->replayed);
	link_request_release(&line->request);
	free(line);
	batch_proceed(b);
}

void batch_create_line(struct batch *b, struct http_slice text)
{
	struct batch_line *line;
	struct create_order order;
	struct error err;

	if (!api_keyring_still_may(b->parts->keys, &b->caller, API_CREATE)) {
		batch_refuse_line(b, b->lines.number, 403,
				  "this API key may not create links any more");
		return;
	}
	line = malloc(sizeof(*line));
	if (!line) {
		batch_refuse_line(b, b->lines.number, 500, "out of memory");
		return;
	}
	line->batch = b;
	line->number = b->lines.number;
	if (link_request_parse(&line->request, b->parts->defaults, text, &err) <
	    0) {
		batch_refuse_line(b, line->number, 400, err.text);
		link_request_release(&line->request);
		free(line);
		return;
	}
	line->place = ring_ask(b->ring, text.len);
	metric_add(b->parts->metrics->in_flight, 1);
	order = (struct create_order){.request = &line->request,
				      .caller = &b->caller,
				      .key = b->key,
				      .line = line->number,
				      .body = text,
				      .source = &b->source};
	create_link(b->parts->create, &order, on_created, line);
}
