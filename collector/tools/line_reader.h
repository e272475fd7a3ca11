/*
 * line_reader.h - reads lines of bytes without copying them.
 *
 *	while ((more = line_reader_fill(r, err)) > 0)
 *		while (line_reader_next(r, &line))
 *			...
 *	if (more == 0 && line_reader_next(r, &line))
 *		... the last one, which has no newline ...
 *
 * So a caller knows when the next read may wait, and can answer the lines that
 * it has before that.
 */
#ifndef COLLECTOR_TOOLS_LINE_READER_H
#define COLLECTOR_TOOLS_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"

/* Works like read(2): 0 is the end.  Returns -1 with *err filled. */
typedef ssize_t line_read_fn(void *arg, void *to, size_t len,
			     struct error *err);

struct line {
	/* Valid until the next line_reader_fill; no newline. */
	const char *text;
	size_t len;
	uint64_t offset; /* position of its first byte in the input */
	/* The line is longer than the limit; `text` is its beginning. */
	bool cut;
	bool unfinished; /* the input ended before a newline */
};

struct line_reader;

/* Lines of more than `line_max` bytes are cut, so that memory is bounded. */
struct line_reader *line_reader_new(size_t line_max, line_read_fn *read,
				    void *arg, struct error *err);
void line_reader_free(struct line_reader *r); /* NULL accepted */

/* Reads more bytes.  Returns 1: there may be lines now; 0: the end; or -1. */
int line_reader_fill(struct line_reader *r, struct error *err);

/* Returns the next line; false if there is none before the next fill. */
bool line_reader_next(struct line_reader *r, struct line *ret_line);

#endif
