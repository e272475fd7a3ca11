/*
 * line_splitter.h - cuts a stream of bytes into lines, holding no more than
 * one.
 *
 * A line ends in LF or with the stream.  One that lies in the bytes given is
 * not copied; only a line that is split between two pieces is gathered.
 */
#ifndef ALLOCATOR_BATCH_LINE_SPLITTER_H
#define ALLOCATOR_BATCH_LINE_SPLITTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/http/http_server.h"

struct line_splitter {
	size_t max;	 /* bytes of a line, without its LF */
	uint64_t number; /* of the line last returned, from 1 */
	struct buf part; /* of a line whose end has not come */
	bool taken;	 /* `part` is the line last returned */
	bool skipping;	 /* the rest of a line that was too long */
};

enum line_result {
	LINE_MORE,	/* all bytes are used up, and no line is complete */
	LINE_COMPLETE,	/* a line */
	LINE_TOO_LONG,	/* a line beyond `max`: its rest will be skipped */
	LINE_NO_MEMORY, /* a line that could not be held: the same */
};

/* Starts from {.max = ...}; end with line_splitter_free. */
void line_splitter_free(struct line_splitter *l);

/* Takes what is left of a line that was returned as too long, or as one that
 * could not be held, off `data`: what remains is the next line's. */
void line_splitter_skip(struct line_splitter *l, struct http_slice *data);

/* Takes the next line off `data`.  *ret_line is valid until the next call, as
 * long as the bytes are. */
enum line_result line_splitter_next(struct line_splitter *l,
				    struct http_slice *data,
				    struct http_slice *ret_line);

/* After the last bytes: a line without LF, or LINE_MORE for none. */
enum line_result line_splitter_last(struct line_splitter *l,
				    struct http_slice *ret_line);

#endif
