/*
 * lines.h - cuts a stream of bytes into lines, holding no more than one.
 *
 * A line ends in LF or with the stream.  One that lies in the bytes given is
 * not copied; only a line that is split between two pieces is gathered.
 */
#ifndef ALLOCATOR_BATCH_LINES_H
#define ALLOCATOR_BATCH_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/http/http_server.h"

struct lines {
	size_t max;	 /* bytes of a line, without its LF */
	uint64_t number; /* of the line last told, from 1 */
	struct buf part; /* of a line whose end has not come */
	bool taken;	 /* `part` is a line that was told */
	bool skipping;	 /* the rest of a line that was told already */
};

enum lines_result {
	LINES_MORE,	 /* all bytes are used up, and no line is complete */
	LINES_LINE,	 /* a line */
	LINES_TOO_LONG,	 /* a line beyond `max`: its rest will be skipped */
	LINES_NO_MEMORY, /* a line that could not be held: the same */
};

/* Starts from {.max = ...}; end with lines_free. */
void lines_free(struct lines *l);

/* Takes the next line off `data`.  *ret_line is valid until the next call, as
 * long as the bytes are. */
enum lines_result lines_next(struct lines *l, struct http_slice *data,
			     struct http_slice *ret_line);

/* After the last bytes: a line without LF, or LINES_MORE for none. */
enum lines_result lines_last(struct lines *l, struct http_slice *ret_line);

#endif
