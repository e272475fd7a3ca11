/* coding.h - content encodings of requests and answers: whole bodies. */
#ifndef STACK_CLICKHOUSE_CODING_H
#define STACK_CLICKHOUSE_CODING_H

#include <stddef.h>

#include "common/buf.h"
#include "common/error.h"

enum coding {
	CODING_IDENTITY,
	CODING_GZIP,
	CODING_DEFLATE, /* zlib's format, as HTTP means it */
	CODING_ZSTD,
	CODING_LZ4, /* the frame format */
	CODING_UNKNOWN,
};

/* Returns the coding of a Content-Encoding value; an empty one is identity. */
enum coding coding_named(const char *name, size_t len);
const char *coding_name(enum coding coding);

/* Returns the coding that we prefer among those an Accept-Encoding value
 * allows; quality 0 refuses. */
enum coding coding_accepted(const char *accept, size_t len);

/*
 * Appends the decoded body to `out`.  Several frames or members in a row are
 * read as one.  A body that is damaged, cut short or decodes to more than `max`
 * bytes is a ClickHouse failure (see failure.h).
 */
int coding_decode(enum coding coding, const void *data, size_t len, size_t max,
		  struct buf *out, struct error *err);

int coding_encode(enum coding coding, const void *data, size_t len,
		  struct buf *out, struct error *err);

#endif
