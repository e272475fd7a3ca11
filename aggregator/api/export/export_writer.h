/*
 * export_writer.h - makes of the rows of an export what its client gets: lines
 * of its format, compressed as the client asked.  The second step of an export.
 */
#ifndef AGGREGATOR_API_EXPORT_EXPORT_WRITER_H
#define AGGREGATOR_API_EXPORT_EXPORT_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "aggregator/api/export/export_question.h"
#include "aggregator/api/export/export_reader.h"
#include "common/buf.h"
#include "common/compress.h"
#include "common/error.h"
#include "common/http/encoding.h"

/* Zeroed at first, except for `encoding`. */
struct export_writer {
	enum encoding encoding;
	struct compressor *compressor; /* NULL: identity, or not begun */
	bool begun;
	size_t row_bytes; /* bytes per line of the last answer; 0: none */
};

/* Appends the lines of `answer`, whose rows are rewritten in place; the last
 * line has a cursor.  It must not be called after the end of an export. */
int export_writer_put(struct export_writer *w, const struct export_question *q,
		      const struct export_range *range,
		      struct export_answer *answer, struct buf *out,
		      struct error *err);
void export_writer_release(struct export_writer *w);

#endif
