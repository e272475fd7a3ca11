/* compress.h - compresses a body to one gzip or zstd frame, whole or in
 * pieces. */
#ifndef COMMON_COMPRESS_H
#define COMMON_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/error.h"

/* The distance to the receiver, which decides what a saved byte is worth. */
enum compress_way {
	COMPRESS_NEAR, /* to a server on our network: as fast as possible */
	COMPRESS_FAR,  /* to a client anywhere */
};

/*
 * Appends `data` compressed by `encoding` ("zstd" or "gzip") to `out`.  Returns
 * -1 if out of memory.
 */
int compress_append(const char *encoding, enum compress_way way,
		    const void *data, size_t len, struct buf *out,
		    struct error *err);

/* Compresses a body that comes in pieces. */
struct compressor;

struct compressor *compressor_new(const char *encoding, enum compress_way way,
				  struct error *err);
void compressor_free(struct compressor *c); /* NULL accepted */

/* Appends a piece to `out`; the output so far decompresses to all pieces so
 * far.  The last one ends the frame. */
int compressor_put(struct compressor *c, const void *data, size_t len,
		   bool last, struct buf *out, struct error *err);

#endif
