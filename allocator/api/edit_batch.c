/*
 * POST /v1/links/edit: edits, deletes or restores a link per line
 * (edit_line.h), or the links of a filter (edit_filter.c).
 *
 * An edit that finds the link as it is to be writes nothing and is a success,
 * so a body that was sent before may be sent again.  Lines with the same code
 * are worked on one after the other, in their order.
 */
#include <stdlib.h>
#include <string.h>

#include "allocator/api/api_reply.h"
#include "allocator/api/handlers.h"
#include "allocator/batch/edit_line.h"
#include "common/hash.h"
#include "common/http/encoding.h"
#include "common/http/url.h"

enum {
	BUCKETS = 1024 /* for the codes under way; a power of two */
};

/* A line that is being worked on, or that waits for an earlier one with its
 * code. */
struct edit {
	struct running_batch *batch;
	struct edit_line line;
	uint64_t place, number;
	struct edit *next;	   /* in its bucket */
	struct edit *later;	   /* the next line with its code */
	struct edit *last_waiting; /* of the one that is worked on */
};

struct edit_lines {
	struct edit_options options;
	/* The edit of the lines that have none; without `patches` and
	 * `deletes` each line has to have one. */
	struct edit_line common;
	struct hash_key hash_key;
	struct edit *under_way[BUCKETS]; /* by code */
	/* An edit may be done before begin_edit returns.  Then the next one of
	 * its code is left to the loop that began it, so that a long chain does
	 * not deepen the stack. */
	bool draining;
	struct edit *next;
};

static void begin_edit(struct edit *e);

/* --- codes under way ------------------------------------------------------ */

static struct edit **bucket_of(struct edit_lines *lines, const struct edit *e)
{
	uint64_t hash = hash_bytes(&lines->hash_key, e->line.code.data,
				   e->line.code.len);

	return &lines->under_way[hash & (BUCKETS - 1)];
}

static bool same_code(const struct edit *a, const struct edit *b)
{
	return a->line.code.len == b->line.code.len &&
	       !memcmp(a->line.code.data, b->line.code.data, a->line.code.len);
}

/* Returns the place in which the edit under way with this code is, or is to
 * be. */
static struct edit **find_under_way(struct edit_lines *lines,
				    const struct edit *e)
{
	struct edit **at = bucket_of(lines, e);

	while (*at && !same_code(*at, e))
		at = &(*at)->next;
	return at;
}

/* Returns false if an earlier line with this code has to be done first. */
static bool take_turn(struct edit_lines *lines, struct edit *e)
{
	struct edit **at = find_under_way(lines, e);

	e->later = e->next = NULL;
	e->last_waiting = e;
	if (!*at) {
		*at = e;
		return true;
	}
	(*at)->last_waiting->later = e;
	(*at)->last_waiting = e;
	return false;
}

/* Returns the next line with this code, whose turn it is now; NULL: none. */
static struct edit *pass_turn(struct edit_lines *lines, struct edit *e)
{
	struct edit **at = find_under_way(lines, e), *later = e->later;

	if (later) {
		later->next = e->next;
		later->last_waiting =
			e->last_waiting == e ? later : e->last_waiting;
	}
	*at = later ? later : e->next;
	return later;
}

/* --- answers -------------------------------------------------------------- */

static struct metric *outcome_of_edit(const struct batches *all,
				      const struct change_result *result)
{
	if (result->status != 200)
		return batch_outcome_of(all, result->status);
	return result->changed ? all->metrics->changed
			       : all->metrics->unchanged;
}

static void put_edited(const struct edit *e, const struct change_result *result,
		       struct buf *out)
{
	const struct edit_lines *lines = batch_data(e->batch);

	if (result->status != 200) {
		batch_put_problem(out, e->number, result->status, result->type,
				  result->detail);
		return;
	}
	buf_printf(out, "{\"line\":%llu,", (unsigned long long)e->number);
	edit_answer_put(result, &batch_all(e->batch)->defaults->rules,
			&lines->options, out);
	buf_puts(out, "}\n");
}

static void edit_free(struct edit *e)
{
	edit_line_release(&e->line);
	free(e);
}

/* Begins the edits that waited, as long as each is done at once. */
static void drain_edits(struct edit_lines *lines, struct edit *e)
{
	lines->draining = true;
	while (e) {
		lines->next = NULL;
		begin_edit(e);
		e = lines->next;
	}
	lines->draining = false;
}

static void on_edited(void *arg, const struct change_result *result)
{
	struct edit *e = arg;
	struct running_batch *b = e->batch;
	struct edit_lines *lines = batch_data(b);
	struct edit *later = pass_turn(lines, e);
	struct metric *outcome = outcome_of_edit(batch_all(b), result);
	uint64_t place = e->place;

	put_edited(e, result, batch_answer(b, place));
	edit_free(e);
	if (!lines->draining)
		drain_edits(lines, later);
	else if (later)
		lines->next = later;
	/* Until here the line keeps the batch. */
	batch_end_line(b, place, outcome);
}

/* --- a line --------------------------------------------------------------- */

static bool if_match_allows(const void *arg, const Shortloop__Link *link,
			    const char *etag)
{
	const struct edit_line *line = arg;

	(void)link;
	return encoding_etag_is_one_of(line->if_match, etag);
}

static void begin_edit(struct edit *e)
{
	const struct edit_lines *lines = batch_data(e->batch);
	const struct edit_line *what =
		edit_line_says_what(&e->line) ? &e->line : &lines->common;
	struct change_order order = {
		.code = e->line.code,
		.caller = batch_caller(e->batch),
		.source = batch_source(e->batch),
		.is_expected = e->line.if_match.data ? if_match_allows : NULL,
		.expected = &e->line,
		.dry_run = lines->options.dry_run,
	};

	edit_line_order(what, &order);
	link_changer_change(batch_all(e->batch)->changer, &order, on_edited, e);
}

static void answer_common(struct running_batch *b)
{
	uint64_t place = batch_begin_line(b, 0);

	buf_printf(batch_answer(b, place), "{\"line\":%llu,\"common\":true}\n",
		   (unsigned long long)batch_line_number(b));
	batch_end_line(b, place, batch_all(b)->metrics->unchanged);
}

/* The line was parsed before, so this is rare. */
static void refuse_common(struct running_batch *b, struct edit_lines *lines,
			  const char *detail)
{
	edit_line_release(&lines->common);
	lines->common = (struct edit_line){.root = NULL};
	batch_refuse_line(b, 400, detail);
}

/* Takes a line without a code, which says what the others do. */
static void take_common(struct running_batch *b, struct http_slice text)
{
	struct edit_lines *lines = batch_data(b);
	struct error err;

	if (batch_line_number(b) > 1)
		batch_refuse_line(b, 400,
				  "code: is required; only the first line may "
				  "be without, and says what the others do");
	else if (edit_line_parse(&lines->common, &batch_all(b)->defaults->rules,
				 text, &err) < 0)
		refuse_common(b, lines, err.text);
	else
		answer_common(b);
}

static void take_edit(struct edit *e, size_t bytes)
{
	struct edit_lines *lines = batch_data(e->batch);

	e->place = batch_begin_line(e->batch, bytes);
	if (take_turn(lines, e))
		begin_edit(e);
}

/* Takes a line whose edit has been parsed; returns false if the edit is not
 * needed any more. */
static bool take_parsed(struct edit *e, struct http_slice text)
{
	const struct edit_lines *lines = batch_data(e->batch);

	if (!e->line.code.data) {
		take_common(e->batch, text);
	} else if (!edit_line_says_what(&e->line) &&
		   !edit_line_says_what(&lines->common)) {
		batch_refuse_line(e->batch, 400,
				  "patch: is required, or delete or restore, "
				  "unless the first line has one of them and "
				  "no code");
	} else {
		take_edit(e, text.len);
		return true;
	}
	return false;
}

static void take_edit_line(struct running_batch *b, struct http_slice text)
{
	struct edit *e = malloc(sizeof(*e));
	struct error err;

	if (!e) {
		batch_refuse_line(b, 500, "out of memory");
		return;
	}
	e->batch = b;
	e->number = batch_line_number(b);
	if (edit_line_parse(&e->line, &batch_all(b)->defaults->rules, text,
			    &err) < 0)
		api_refuse_line(b, &err, &e->line.patch.fields.mistakes,
				"patch.");
	else if (take_parsed(e, text))
		return;
	edit_free(e);
}

/* --- start ---------------------------------------------------------------- */

static void free_lines(void *data)
{
	struct edit_lines *lines = data;

	edit_line_release(&lines->common);
	free(lines);
}

static const struct batch_kind edit_kind = {
	.lines = "edits",
	.denied = "this API key may not edit links any more",
	.take = take_edit_line,
	.free_data = free_lines,
};

static int read_option(const struct url_param *param,
		       struct edit_options *options, struct error *err)
{
	int read = edit_options_read(options, param, err);

	if (read)
		return read < 0 ? -1 : 0;
	return error_set(err, ERROR_INPUT,
			 "%.64s: is not a parameter of an edit of lines; these "
			 "are: dry_run, answer",
			 param->key);
}

static int read_options(struct http_slice query, struct edit_options *options,
			struct error *err)
{
	struct url_params params;
	int status = url_params_parse(&params, query, err);

	for (size_t i = 0; status == 0 && i < params.count; i++)
		status = read_option(&params.items[i], options, err);
	url_params_free(&params);
	return status;
}

static struct edit_lines *lines_new(const struct edit_options *options)
{
	struct edit_lines *lines = calloc(1, sizeof(*lines));
	struct error ignored;

	if (!lines || hash_key_make(&lines->hash_key, &ignored) < 0) {
		free(lines);
		return NULL;
	}
	lines->options = *options;
	return lines;
}

static bool is_of_filter(const struct http_request *req)
{
	return http_type_is(req, "application/merge-patch+json") ||
	       http_type_is(req, "application/json");
}

void handle_edit(const struct api_call *call)
{
	struct edit_options options = {0};
	struct edit_lines *lines;
	struct error err;

	if (is_of_filter(call->req)) {
		handle_edit_filter(call);
		return;
	}
	if (read_options(http_query(call->req), &options, &err) < 0) {
		http_reply_problem(call->req, 400, NULL, "%s", err.text);
		return;
	}
	lines = lines_new(&options);
	if (lines)
		batch_handle(&call->api->batches, &edit_kind, lines, call->req,
			     call->caller);
	else
		http_reply_problem(call->req, 500, NULL, "out of memory");
}
