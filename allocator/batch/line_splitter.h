/*
 * line_splitter.h - splits a stream of bytes into lines, and holds at most one.
 *
 * A line ends at an LF or at the end of the stream.  A line that lies within
 * the given bytes is not copied; only a line that is split between two pieces
 * is gathered.
 */
#ifndef ALLOCATOR_BATCH_LINE_SPLITTER_H
#define ALLOCATOR_BATCH_LINE_SPLITTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/http/http_server.h"

struct line_splitter {
	size_t max;	 /* largest line in bytes, without its LF */
	uint64_t number; /* number of the last line, from 1 */
	struct buf part; /* the start of an incomplete line */
	bool taken;	 /* `part` is the last line returned */
	bool skipping;	 /* skipping the rest of a rejected line */
};

enum line_result {
	LINE_MORE,	/* all bytes are consumed, no line is complete */
	LINE_COMPLETE,	/* a line */
	LINE_TOO_LONG,	/* a line beyond `max`; its rest will be skipped */
	LINE_NO_MEMORY, /* no memory for the line; the same */
};

/* Initialize it as {.max = ...}; end with line_splitter_free. */
void line_splitter_free(struct line_splitter *l);

/* Takes the rest of a line that was too long, or for which memory ran out, off
 * `data`.  The remaining bytes belong to the next line. */
void line_splitter_skip(struct line_splitter *l, struct http_slice *data);

/* Takes the next line off `data`.  *ret_line is valid until the next call, and
 * only as long as the bytes are. */
enum line_result line_splitter_next(struct line_splitter *l,
				    struct http_slice *data,
				    struct http_slice *ret_line);

/* Call it after the last bytes: returns a line without LF, or LINE_MORE for
 * none. */
enum line_result line_splitter_last(struct line_splitter *l,
				    struct http_slice *ret_line);

#endif
