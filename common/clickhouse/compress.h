/* compress.h - a whole request body as one gzip or zstd frame. */
#ifndef COMMON_CLICKHOUSE_COMPRESS_H
#define COMMON_CLICKHOUSE_COMPRESS_H

#include <stddef.h>

#include "common/buf.h"
#include "common/error.h"

/*
 * Appends `data` compressed by `encoding` ("zstd" or "gzip") to `out`.
 * Returns -1 when memory runs out.
 */
int compress_append(const char *encoding, const void *data, size_t len,
		    struct buf *out, struct error *err);

#endif
