/* read_file.h - a file that is read as a whole. */
#ifndef COMMON_READ_FILE_H
#define COMMON_READ_FILE_H

#include <stddef.h>

#include "common/buf.h"

/*
 * Appends what the file has to `out`, empty before; where that is more than
 * `most` bytes, so much and a little more, so that out->len tells.  Out of
 * memory is out->failed.  -1: errno says why it cannot be read.
 */
int read_file(const char *path, size_t most, struct buf *out);

#endif
