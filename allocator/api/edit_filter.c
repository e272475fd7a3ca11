/*
 * POST /v1/links/edit with a filter: edits, deletes or restores all links of
 * it.
 *
 * The archive proposes links page by page, in order of their codes
 * (allocator/filter/).  They are the lines of a batch, so its limits, its rates
 * and its order of answers hold.  Each link is checked again as Redis has it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "allocator/api/api_reply.h"
#include "allocator/api/handlers.h"
#include "allocator/batch/edit_line.h"
#include "allocator/filter/archive_reader.h"
#include "allocator/filter/link_filter.h"
#include "common/keys/key_check.h"
#include "linkstore/target.h"

#define NO_ARCHIVE                                                             \
	"the archive of links, which finds the links of a filter, cannot be "  \
	"queried (section clickhouse): try again later, with after= and the "  \
	"last code that was answered"

/* A request; it is the data of its batch. */
struct filter_edit {
	struct api_context *api;
	struct http_request *req;
	struct http_stream_handler handler;
	struct api_key_info caller;
	struct edit_options options;
	struct link_filter filter;
	struct edit_line what;
	struct buf body;
	struct archive_read read;
	struct running_batch *batch; /* NULL: not begun, or over */
	size_t fed;		     /* bytes of the page */
	char after[ALIAS_TEXT_MAX];  /* the last code of the page */
	char last[ALIAS_TEXT_MAX];   /* the last code that was answered */
	bool aborted;		     /* the client has gone before the batch */
	bool reading, feeding;	     /* in use: must not be freed */
	bool over;		     /* to be freed when it is not in use */
	uint64_t changed, unchanged, skipped, failed;
};

/* A link that is being edited. */
struct filtered_link {
	struct running_batch *batch;
	uint64_t place, number, link_id;
	char code[ALIAS_TEXT_MAX];
};

static void feed_page(struct filter_edit *e);

static void edit_free(struct filter_edit *e)
{
	archive_read_release(&e->read);
	edit_line_release(&e->what);
	link_filter_release(&e->filter);
	buf_free(&e->body);
	free(e);
}

static void refuse_edit(struct filter_edit *e, int status, const char *detail)
{
	http_reply_problem(e->req, status, NULL, "%s", detail);
	edit_free(e);
}

/* --- a link --------------------------------------------------------------- */

/* Returns whether the link that Redis has is the one that the archive proposes,
 * and still matches. */
static bool still_matches(const void *arg, const Shortloop__Link *link,
			  const char *etag)
{
	const struct filtered_link *l = arg;
	const struct filter_edit *e = batch_data(l->batch);

	(void)etag;
	return link->link_id == l->link_id &&
	       link_filter_matches(&e->filter, link);
}

/* Returns why the link was left as it is; NULL: it is a problem. */
static const char *reason_to_skip(int status)
{
	switch (status) {
	case 404:
	case 410:
		return "there is no such link any more";
	case 412:
		return "the link does not match the filter any more";
	default:
		return NULL;
	}
}

static void put_edited(struct filter_edit *e, const struct filtered_link *l,
		       const struct change_result *result, struct buf *out)
{
	const char *reason = reason_to_skip(result->status);

	buf_printf(out, "{\"line\":%" PRIu64 ",", l->number);
	if (result->status == 200)
		edit_answer_put(result, &e->api->defaults->rules, &e->options,
				out);
	else if (reason)
		buf_printf(out, "\"code\":\"%s\",\"skipped\":\"%s\"", l->code,
			   reason);
	else
		buf_printf(out, "\"code\":\"%s\",", l->code);
	if (result->status != 200 && !reason)
		http_problem_put(out, result->status, result->type,
				 result->detail);
	buf_puts(out, "}\n");
}

/* Counts the result, and returns how its line is counted. */
static struct metric *count_edited(struct filter_edit *e,
				   const struct change_result *result)
{
	const struct batch_metrics *m = e->api->batches.metrics;

	if (result->status == 200 && result->changed) {
		e->changed++;
		return m->changed;
	}
	if (result->status == 200) {
		e->unchanged++;
		return m->unchanged;
	}
	if (reason_to_skip(result->status)) {
		e->skipped++;
		return m->unchanged;
	}
	e->failed++;
	return batch_outcome_of(&e->api->batches, result->status);
}

static void on_edited(void *arg, const struct change_result *result)
{
	struct filtered_link *l = arg;
	struct running_batch *b = l->batch;
	struct filter_edit *e = batch_data(b);
	uint64_t place = l->place;

	put_edited(e, l, result, batch_answer(b, place));
	free(l);
	batch_end_line(b, place, count_edited(e, result));
}

/* Reads "code TAB link id". */
static void read_proposal(struct filtered_link *l, struct http_slice text)
{
	const char *tab = memchr(text.data, '\t', text.len);
	size_t len = tab ? (size_t)(tab - text.data) : 0;

	if (len >= sizeof(l->code))
		len = 0;
	memcpy(l->code, text.data, len);
	l->code[len] = '\0';
	l->link_id = tab ? strtoull(tab + 1, NULL, 10) : 0;
}

static void take_proposal(struct running_batch *b, struct http_slice text)
{
	struct filter_edit *e = batch_data(b);
	struct filtered_link *l = malloc(sizeof(*l));
	struct change_order order = {
		.caller = batch_caller(b),
		.source = batch_source(b),
		.is_expected = still_matches,
		.expected = l,
	};

	if (!l) {
		batch_refuse_line(b, 500, "out of memory");
		return;
	}
	read_proposal(l, text);
	memcpy(e->last, l->code, sizeof(e->last));
	l->batch = b;
	l->number = batch_line_number(b);
	l->place = batch_begin_line(b, text.len);
	order.code = (struct http_slice){l->code, strlen(l->code)};
	edit_line_order(&e->what, &order);
	link_changer_change(e->api->changer, &order, on_edited, l);
}

static void put_end(const struct running_batch *b, struct buf *out)
{
	const struct filter_edit *e = batch_data(b);

	buf_printf(out,
		   "{\"end\":{\"changed\":%" PRIu64 ",\"unchanged\":%" PRIu64
		   ",\"skipped\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"after\":",
		   e->changed, e->unchanged, e->skipped, e->failed);
	if (*e->last)
		buf_printf(out, "\"%s\"}}\n", e->last);
	else
		buf_puts(out, "null}}\n");
}

/* --- pages ---------------------------------------------------------------- */

static void end_edit(void *data)
{
	struct filter_edit *e = data;

	e->over = true;
	e->batch = NULL;
	if (!e->feeding && !e->reading)
		edit_free(e);
}

/* At the end of the program no more links are taken. */
static void feed_more(struct running_batch *b)
{
	struct filter_edit *e = batch_data(b);

	if (e->api->archive)
		feed_page(e);
	else
		batch_feed_fail(b, 503, "shutting down");
}

static void count_refused(struct running_batch *b, int status)
{
	struct filter_edit *e = batch_data(b);

	(void)status;
	e->failed++;
}

static const struct batch_kind filter_kind = {
	.lines = "edits",
	.count_refused = count_refused,
	.denied = "this API key may not edit links any more",
	.take = take_proposal,
	.free_data = end_edit,
	.more = feed_more,
	.finish = put_end,
};

/* Hides the archive's own words from the client. */
static const char *log_archive_error(const struct filter_edit *e,
				     struct error *err)
{
	error_keep_inside(err, NO_ARCHIVE);
	creation_log_failure(&e->api->creation, err);
	return NO_ARCHIVE;
}

static int read_page(struct filter_edit *e, struct error *err)
{
	e->read.after = e->after;
	e->reading = true;
	if (archive_reader_submit(e->api->archive, e->api->loop, &e->read,
				  err) == 0)
		return 0;
	e->reading = false;
	return -1;
}

/* Keeps the last code of the page, after which the next one begins. */
static void note_end_of_page(struct filter_edit *e)
{
	const struct buf *lines = &e->read.lines;
	const char *line = memrchr(lines->data, '\n', lines->len - 1);
	struct filtered_link last;

	line = line ? line + 1 : lines->data;
	read_proposal(&last,
		      (struct http_slice){
			      line, (size_t)(lines->data + lines->len - line)});
	memcpy(e->after, last.code, sizeof(e->after));
}

/* All of the page has been taken. */
static void end_page(struct filter_edit *e)
{
	struct error err;

	if (e->read.links < ARCHIVE_PAGE)
		batch_feed_end(e->batch);
	else if (read_page(e, &err) < 0)
		batch_feed_fail(e->batch, 503, log_archive_error(e, &err));
}

static void feed_page(struct filter_edit *e)
{
	const struct buf *lines = &e->read.lines;

	e->feeding = true;
	e->fed +=
		batch_feed(e->batch, (struct http_slice){lines->data + e->fed,
							 lines->len - e->fed});
	e->feeding = false;
	if (e->over)
		edit_free(e);
	else if (e->fed == lines->len)
		end_page(e);
}

static void take_page(struct filter_edit *e)
{
	e->fed = 0;
	if (e->read.links == 0) {
		batch_feed_end(e->batch);
		return;
	}
	note_end_of_page(e);
	feed_page(e);
}

static void on_page(void *read)
{
	struct filter_edit *e = ((struct archive_read *)read)->arg;

	e->reading = false;
	if (e->over)
		edit_free(e);
	else if (e->read.err.code != ERROR_NONE)
		batch_feed_fail(e->batch, 503,
				log_archive_error(e, &e->read.err));
	else
		take_page(e);
}

static void open_batch(struct filter_edit *e)
{
	struct running_batch *b;

	/* A batch that is refused releases its data, too. */
	e->feeding = true;
	b = batch_open(&e->api->batches, &filter_kind, e, e->req, &e->caller);
	e->feeding = false;
	if (b) {
		e->batch = b;
		take_page(e);
	} else {
		edit_free(e);
	}
}

/* The first page decides about the status of the answer. */
static void on_first_page(void *read)
{
	struct filter_edit *e = ((struct archive_read *)read)->arg;

	e->reading = false;
	if (e->aborted || e->read.err.code != ERROR_NONE) {
		refuse_edit(e, 503,
			    e->aborted ? "the client has gone"
				       : log_archive_error(e, &e->read.err));
		return;
	}
	e->read.done = on_page;
	open_batch(e);
}

/* --- dry run -------------------------------------------------------------- */

static void put_count(const struct filter_edit *e, struct buf *out)
{
	const struct buf *lines = &e->read.lines;
	const char *at = lines->data, *end = at + lines->len, *tab;

	buf_printf(out,
		   "{\"dry_run\":true,\"links\":%" PRIu64 ",\"examples\":[",
		   e->read.total);
	for (size_t i = 0; i < e->read.links; i++) {
		tab = memchr(at, '\t', (size_t)(end - at));
		buf_printf(out, "%s\"%.*s\"", i ? "," : "", (int)(tab - at),
			   at);
		at = (const char *)memchr(tab, '\n', (size_t)(end - tab)) + 1;
	}
	buf_puts(out, "]}\n");
}

static void on_counted(void *read)
{
	static const struct http_field fields[] = {
		{"Content-Type", "application/json"},
		{"Cache-Control", "no-store"},
		{0}};
	struct filter_edit *e = ((struct archive_read *)read)->arg;
	struct buf *answer = &e->api->answer;

	if (e->read.err.code != ERROR_NONE) {
		refuse_edit(e, 503, log_archive_error(e, &e->read.err));
		return;
	}
	buf_reset(answer);
	put_count(e, answer);
	if (answer->failed) {
		refuse_edit(e, 500, "out of memory");
		return;
	}
	http_reply(e->req, 200, fields, answer->data, answer->len);
	edit_free(e);
}

/* --- body ----------------------------------------------------------------- */

static void begin_edit(struct filter_edit *e)
{
	struct error err;

	if (edit_line_parse_all(&e->what, &e->api->defaults->rules,
				(struct http_slice){e->body.data, e->body.len},
				&err) < 0) {
		api_reply_mistakes(e->req, &err, &e->what.patch.fields.mistakes,
				   "patch.");
		edit_free(e);
		return;
	}
	e->filter.deleted = e->what.restores;
	e->read.filter = &e->filter;
	e->read.count = e->options.dry_run;
	e->read.done = e->options.dry_run ? on_counted : on_first_page;
	e->read.arg = e;
	e->read.whose =
		XXH3_64bits(e->caller.account, strlen(e->caller.account));
	strcpy(e->after, e->filter.after);
	if (read_page(e, &err) < 0)
		refuse_edit(e, 503, log_archive_error(e, &err));
}

static size_t on_body(struct http_request *req, struct http_slice data,
		      void *arg)
{
	struct filter_edit *e = arg;

	(void)req;
	if (e->body.len + data.len > BATCH_LINE_MAX)
		refuse_edit(e, 413, "the edit is longer than 65536 bytes");
	else
		buf_append(&e->body, data.data, data.len);
	return data.len;
}

static void on_body_end(struct http_request *req, void *arg)
{
	struct filter_edit *e = arg;

	(void)req;
	if (e->body.failed)
		refuse_edit(e, 500, "out of memory");
	else
		begin_edit(e);
}

static void on_abort(struct http_request *req, void *arg)
{
	struct filter_edit *e = arg;

	(void)req;
	e->aborted = true;
	if (e->batch)
		batch_client_gone(e->batch);
	else if (!e->reading)
		refuse_edit(e, 400, "the body has no end");
}

static void on_drained(struct http_request *req, void *arg)
{
	struct filter_edit *e = arg;

	(void)req;
	if (e->batch)
		batch_client_reads(e->batch);
}

/* --- start ---------------------------------------------------------------- */

void handle_edit_filter(const struct api_call *call)
{
	struct filter_edit *e = calloc(1, sizeof(*e));
	struct error err;

	if (!e) {
		http_reply_problem(call->req, 500, NULL, "out of memory");
		return;
	}
	e->api = call->api;
	e->req = call->req;
	e->caller = *call->caller;
	if (link_filter_parse(&e->filter, http_query(call->req), &e->caller,
			      &e->options, &err) < 0) {
		refuse_edit(e, err.code == ERROR_NOT_OWNER ? 403 : 400,
			    err.text);
		return;
	}
	/* The price of the query to the archive; each link costs one as well.
	 */
	if (!key_check_take(call->req, call->caller, 1)) {
		edit_free(e);
		return;
	}
	e->handler = (struct http_stream_handler){
		.on_data = on_body,
		.on_end = on_body_end,
		.on_abort = on_abort,
		.on_drained = on_drained,
		.drain_mark = call->api->batches.bytes_max / 2,
	};
	http_stream_accept(call->req, &e->handler, e);
}
