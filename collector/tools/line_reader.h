/*
 * line_reader.h - lines of bytes from somewhere, without copying them.
 *
 *	while ((more = line_reader_fill(r, err)) > 0)
 *		while (line_reader_next(r, &line))
 *			...
 *	if (more == 0 && line_reader_next(r, &line))
 *		... the last one, which has no newline ...
 *
 * So a caller knows when it is about to wait for more, and can answer what it
 * has before that.
 */
#ifndef COLLECTOR_TOOLS_LINE_READER_H
#define COLLECTOR_TOOLS_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"

/* As read(2): 0 is the end.  -1 with *err filled. */
typedef ssize_t line_read_fn(void *arg, void *to, size_t len,
			     struct error *err);

struct line {
	const char *text; /* until the next line_reader_fill; no newline */
	size_t len;
	uint64_t offset; /* of its first byte in all that was read */
	bool cut;	 /* it was longer than the most allowed; `text` is its
			  * beginning */
	bool unfinished; /* the input ended before a newline */
};

struct line_reader;

/* Lines of more than `line_max` bytes are cut, so that memory is bounded. */
struct line_reader *line_reader_new(size_t line_max, line_read_fn *read,
				    void *arg, struct error *err);
void line_reader_free(struct line_reader *r); /* NULL accepted */

/* Reads some more.  1: there may be lines now; 0: that was all; -1. */
int line_reader_fill(struct line_reader *r, struct error *err);

/* The next line there is.  False: none, before the next fill. */
bool line_reader_next(struct line_reader *r, struct line *ret_line);

#endif
