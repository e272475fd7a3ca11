#define ZLIB_CONST /* next_in is then a pointer to const */
#include "common/compress.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

static const struct {
	int zstd, gzip;
} levels[] = {
	[COMPRESS_NEAR] = {1, 3},
	[COMPRESS_FAR] = {3, 6},
};

enum {
	GZIP_WINDOW = 15 + 16, /* + 16: gzip's header rather than zlib's */
	GZIP_MEMORY = 8,
};

static int zstd_append(int level, const void *data, size_t len, struct buf *out,
		       struct error *err)
{
	size_t bound = ZSTD_compressBound(len);
	char *to = buf_reserve(out, bound);
	size_t n;

	if (!to)
		return error_set_nomem(err);
	n = ZSTD_compress(to, bound, data, len, level);
	if (ZSTD_isError(n))
		return error_set(err, ERROR_NOMEM, "zstd: %s",
				 ZSTD_getErrorName(n));
	out->len += n;
	return 0;
}

static int gzip_append(int level, const void *data, size_t len, struct buf *out,
		       struct error *err)
{
	z_stream z = {0};
	size_t bound;
	char *to;

	if (len > UINT_MAX / 2)
		return error_set(err, ERROR_INPUT,
				 "gzip: more than 2 GiB in one body");
	if (deflateInit2(&z, level, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return error_set_nomem(err);
	bound = deflateBound(&z, len);
	to = buf_reserve(out, bound);
	if (to) {
		z.next_in = data;
		z.avail_in = (uInt)len;
		z.next_out = (Bytef *)to;
		z.avail_out = (uInt)bound;
		deflate(&z, Z_FINISH);
		out->len += z.total_out;
	}
	deflateEnd(&z);
	return to ? 0 : error_set_nomem(err);
}

int compress_append(const char *encoding, enum compress_way way,
		    const void *data, size_t len, struct buf *out,
		    struct error *err)
{
	if (!strcmp(encoding, "zstd"))
		return zstd_append(levels[way].zstd, data, len, out, err);
	return gzip_append(levels[way].gzip, data, len, out, err);
}

/* --- compressing in pieces -------------------------------------------- */

#define STEP 65536 /* room reserved for output at a time */

struct compressor {
	ZSTD_CCtx *zstd; /* NULL: gzip */
	z_stream gzip;
	bool has_gzip;
};

static int open_codec(struct compressor *c, const char *encoding, int zstd,
		      int gzip)
{
	if (strcmp(encoding, "zstd") != 0) {
		c->has_gzip =
			deflateInit2(&c->gzip, gzip, Z_DEFLATED, GZIP_WINDOW,
				     GZIP_MEMORY, Z_DEFAULT_STRATEGY) == Z_OK;
		return c->has_gzip ? 0 : -1;
	}
	c->zstd = ZSTD_createCCtx();
	if (!c->zstd)
		return -1;
	return ZSTD_isError(ZSTD_CCtx_setParameter(
		       c->zstd, ZSTD_c_compressionLevel, zstd))
		       ? -1
		       : 0;
}

struct compressor *compressor_new(const char *encoding, enum compress_way way,
				  struct error *err)
{
	struct compressor *c = calloc(1, sizeof(*c));

	if (c &&
	    open_codec(c, encoding, levels[way].zstd, levels[way].gzip) == 0)
		return c;
	compressor_free(c);
	error_set_nomem(err);
	return NULL;
}

void compressor_free(struct compressor *c)
{
	if (!c)
		return;
	ZSTD_freeCCtx(c->zstd);
	if (c->has_gzip)
		deflateEnd(&c->gzip);
	free(c);
}

static int put_zstd(struct compressor *c, const void *data, size_t len,
		    bool last, struct buf *out, struct error *err)
{
	ZSTD_inBuffer in = {data, len, 0};
	size_t left;

	do {
		char *to = buf_reserve(out, STEP);
		ZSTD_outBuffer room = {to, STEP, 0};

		if (!to)
			return error_set_nomem(err);
		left = ZSTD_compressStream2(c->zstd, &room, &in,
					    last ? ZSTD_e_end : ZSTD_e_flush);
		if (ZSTD_isError(left))
			return error_set(err, ERROR_NOMEM, "zstd: %s",
					 ZSTD_getErrorName(left));
		out->len += room.pos;
	} while (left);
	return 0;
}

static int put_gzip(struct compressor *c, const void *data, size_t len,
		    bool last, struct buf *out, struct error *err)
{
	z_stream *z = &c->gzip;

	if (len > UINT_MAX)
		return error_set(err, ERROR_INPUT,
				 "gzip: more than 4 GiB in one piece");
	z->next_in = data;
	z->avail_in = (uInt)len;
	do {
		char *to = buf_reserve(out, STEP);

		if (!to)
			return error_set_nomem(err);
		z->next_out = (Bytef *)to;
		z->avail_out = STEP;
		deflate(z, last ? Z_FINISH : Z_SYNC_FLUSH);
		out->len += STEP - z->avail_out;
	} while (!z->avail_out);
	return 0;
}

int compressor_put(struct compressor *c, const void *data, size_t len,
		   bool last, struct buf *out, struct error *err)
{
	return c->zstd ? put_zstd(c, data, len, last, out, err)
		       : put_gzip(c, data, len, last, out, err);
}
