/*
 * read_file.h - reads files as a whole, or line by line.
 *
 * Only a plain file is opened: a FIFO or a terminal can block for ever, a
 * device may have no end.
 */
#ifndef COMMON_READ_FILE_H
#define COMMON_READ_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "common/buf.h"
#include "common/error.h"

/* Opens a plain file for reading, or a link to one.  On failure the error has
 * the reason, without the path: "it is a FIFO, not a plain file". */
int plain_file_open(const char *path, struct error *err);

/* The same as a stream; NULL on failure. */
FILE *plain_file_stream(const char *path, struct error *err);

/*
 * Appends the contents of the plain file to `out`, which is empty before; if
 * that is more than `most` bytes, only slightly more than `most`, so that
 * out->len shows it.  Out of memory is out->failed.  The error has the reason,
 * without the path.
 */
int read_file(const char *path, size_t most, struct buf *out,
	      struct error *err);

#endif
