#define ZLIB_CONST /* next_in is then a pointer to const */
#include "common/compress.h"

#include <limits.h>
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
