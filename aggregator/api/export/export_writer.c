#include "aggregator/api/export/export_writer.h"

#include <inttypes.h>
#include <string.h>

#include "aggregator/api/export/export_rows.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

void export_writer_release(struct export_writer *w)
{
	compressor_free(w->compressor);
}

static int begin_output(struct export_writer *w,
			const struct export_question *q, struct buf *out,
			struct error *err)
{
	if (w->begun)
		return 0;
	/* The fastest level: the client waits for it. */
	if (w->encoding != ENCODING_IDENTITY) {
		w->compressor = compressor_new(encoding_name(w->encoding),
					       COMPRESS_NEAR, err);
		if (!w->compressor)
			return -1;
	}
	export_rows_head(out, q->format, q->also);
	w->begun = true;
	return 0;
}

/* The rows of one answer while they become lines. */
struct lines {
	const struct export_question *question;
	struct export_columns columns;
	struct buf *out;
	size_t count;
	char *last[CLICKHOUSE_FIELDS_MAX];
};

static int put_row(void *arg, char **fields, struct error *err)
{
	struct lines *lines = arg;
	enum export_format format = lines->question->format;

	(void)err;
	if (lines->count++)
		export_rows_end(lines->out, format, NULL);
	export_rows_put(lines->out, format, &lines->columns, fields);
	memcpy(lines->last, fields,
	       strlen(lines->columns.letters) * sizeof(*fields));
	return 0;
}

static void end_last(struct lines *lines, const struct export_range *range)
{
	struct export_cursor cursor = {.range = *range};
	struct buf text = {0};

	export_rows_place(&lines->columns, lines->last, &cursor.after);
	export_cursor_put(&text, lines->question, &cursor);
	export_rows_end(lines->out, lines->question->format, buf_cstr(&text));
	lines->out->failed |= text.failed;
	buf_free(&text);
}

static int put_lines(struct export_writer *w, const struct export_question *q,
		     const struct export_range *range,
		     struct export_answer *answer, struct buf *out,
		     struct error *err)
{
	struct lines lines = {.question = q, .out = out};
	size_t start = out->len;

	export_columns_fill(&lines.columns, q->also);
	if (clickhouse_rows_of(&answer->rows, lines.columns.letters, put_row,
			       &lines, err) < 0)
		return -1;
	if (!lines.count)
		return 0;
	end_last(&lines, range);
	w->row_bytes = (out->len - start) / lines.count;
	return 0;
}

/* Writes where the export ended and whether it is complete.  CSV has no room
 * for that. */
static void put_end(const struct export_question *q,
		    const struct export_range *range,
		    const struct export_answer *answer, struct buf *out)
{
	bool complete = answer->end == EXPORT_COMPLETE;
	char from[RFC3339_TEXT_MAX], to[RFC3339_TEXT_MAX];
	const struct export_cursor cursor = {.range = *range,
					     .after = answer->place};

	if (answer->end == EXPORT_GOES_ON || q->format == EXPORT_CSV)
		return;
	buf_printf(out,
		   "{\"end\":{\"complete\":%s,\"rows\":%" PRIu64
		   ",\"from\":\"%s\",\"to\":\"%s\",\"cursor\":",
		   complete ? "true" : "false", answer->total,
		   rfc3339_format(range->from_ms, from),
		   rfc3339_format(range->to_ms, to));
	if (complete) {
		buf_puts(out, "null");
	} else {
		buf_putc(out, '"');
		export_cursor_put(out, q, &cursor);
		buf_putc(out, '"');
	}
	buf_puts(out, "}}\n");
}

int export_writer_put(struct export_writer *w, const struct export_question *q,
		      const struct export_range *range,
		      struct export_answer *answer, struct buf *out,
		      struct error *err)
{
	struct buf plain = {0};
	struct buf *lines = w->encoding == ENCODING_IDENTITY ? out : &plain;
	int status = -1;

	if (begin_output(w, q, lines, err) < 0 ||
	    put_lines(w, q, range, answer, lines, err) < 0)
		goto out;
	put_end(q, range, answer, lines);
	if (lines->failed)
		status = error_set_nomem(err);
	else if (w->compressor)
		status =
			compressor_put(w->compressor, plain.data, plain.len,
				       answer->end != EXPORT_GOES_ON, out, err);
	else
		status = 0;
out:
	buf_free(&plain);
	return status;
}
