/*
 * read_file.h - files that are read as a whole, or line by line.
 *
 * Only a plain file is opened: a FIFO or a terminal waits for ever, a device
 * may have no end.
 */
#ifndef COMMON_READ_FILE_H
#define COMMON_READ_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "common/buf.h"
#include "common/error.h"

/* Opens a plain file for reading, or what leads to one.  On failure the error
 * says why, without the path: "it is a FIFO, not a plain file". */
int plain_file_open(const char *path, struct error *err);

/* The same as a stream; NULL on failure. */
FILE *plain_file_stream(const char *path, struct error *err);

/*
 * Appends what the plain file has to `out`, empty before; where that is more
 * than `most` bytes, so much and a little more, so that out->len tells.  Out of
 * memory is out->failed.  The error says why it cannot be read, without the
 * path.
 */
int read_file(const char *path, size_t most, struct buf *out,
	      struct error *err);

#endif
