/* Declares zlib's input as const. */
#define ZLIB_CONST

#include "stack/clickhouse/coding.h"

#include <lz4frame.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

#include "stack/clickhouse/failure.h"

#define STEP	    (256 * 1024)
#define ZLIB_LEVEL  3
#define ZSTD_LEVEL  1
#define GZIP_WINDOW (15 + 16)

/* One call of a decoder: input consumed, output produced, whether a frame
 * ended. */
struct step {
	const unsigned char *in;
	size_t in_len;
	char *out;
	size_t out_len;
	bool frame_ended;
};

struct decoder {
	enum coding coding;
	z_stream zlib;
	ZSTD_DStream *zstd;
	LZ4F_dctx *lz4;
};

static const struct {
	enum coding coding;
	const char *name;
} names[] = {
	{CODING_ZSTD, "zstd"},	     {CODING_LZ4, "lz4"},
	{CODING_GZIP, "gzip"},	     {CODING_GZIP, "x-gzip"},
	{CODING_DEFLATE, "deflate"}, {CODING_IDENTITY, "identity"},
};
#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

enum coding coding_named(const char *name, size_t len)
{
	if (len == 0)
		return CODING_IDENTITY;
	for (size_t i = 0; i < NAME_COUNT; i++)
		if (strlen(names[i].name) == len &&
		    strncasecmp(names[i].name, name, len) == 0)
			return names[i].coding;
	return CODING_UNKNOWN;
}

const char *coding_name(enum coding coding)
{
	for (size_t i = 0; i < NAME_COUNT; i++)
		if (names[i].coding == coding)
			return names[i].name;
	return "unknown";
}

/* Returns true if one element of the list, such as "gzip;q=0.5", accepts
 * `name`. */
static bool item_accepts(const char *item, size_t len, const char *name)
{
	size_t name_len = strlen(name);
	const char *q;

	if (len < name_len || strncasecmp(item, name, name_len) != 0)
		return false;
	if (len > name_len && !strchr("; \t", item[name_len]))
		return false;
	q = memmem(item, len, "q=", 2);
	return !q || strtod(q + 2, NULL) > 0;
}

static bool list_accepts(const char *list, const char *name)
{
	while (*list) {
		size_t len = strcspn(list, ",");

		while (len > 0 && (*list == ' ' || *list == '\t')) {
			list++;
			len--;
		}
		if (item_accepts(list, len, name))
			return true;
		list += len + (list[len] == ',');
	}
	return false;
}

enum coding coding_accepted(const char *accept, size_t len)
{
	char list[256];

	if (len >= sizeof(list))
		len = sizeof(list) - 1;
	if (len > 0)
		memcpy(list, accept, len);
	list[len] = '\0';
	for (size_t i = 0; i < NAME_COUNT; i++)
		if (list_accepts(list, names[i].name))
			return names[i].coding;
	return CODING_IDENTITY;
}

/* --- decoding ------------------------------------------------------------- */

static int decoder_open(struct decoder *d, enum coding coding)
{
	int window = coding == CODING_GZIP ? GZIP_WINDOW : 15;

	*d = (struct decoder){.coding = coding};
	switch (coding) {
	case CODING_GZIP:
	case CODING_DEFLATE:
		return inflateInit2(&d->zlib, window) == Z_OK ? 0 : -1;
	case CODING_ZSTD:
		d->zstd = ZSTD_createDStream();
		return d->zstd ? 0 : -1;
	default:
		return LZ4F_isError(LZ4F_createDecompressionContext(
			       &d->lz4, LZ4F_VERSION))
			       ? -1
			       : 0;
	}
}

static void decoder_close(struct decoder *d)
{
	if (d->coding == CODING_GZIP || d->coding == CODING_DEFLATE)
		inflateEnd(&d->zlib);
	ZSTD_freeDStream(d->zstd);
	LZ4F_freeDecompressionContext(d->lz4);
}

static int step_zlib(struct decoder *d, struct step *s)
{
	z_stream *z = &d->zlib;
	int rc;

	z->next_in = s->in;
	z->avail_in = s->in_len > STEP ? STEP : (uInt)s->in_len;
	z->next_out = (Bytef *)s->out;
	z->avail_out = (uInt)s->out_len;
	rc = inflate(z, Z_NO_FLUSH);
	s->in_len = (size_t)(z->next_in - s->in);
	s->out_len -= z->avail_out;
	s->frame_ended = rc == Z_STREAM_END;
	if (s->frame_ended)
		return inflateReset(z) == Z_OK ? 0 : -1;
	return rc == Z_OK ? 0 : -1;
}

static int step_zstd(struct decoder *d, struct step *s)
{
	ZSTD_inBuffer in = {s->in, s->in_len, 0};
	ZSTD_outBuffer out = {s->out, s->out_len, 0};
	size_t rc = ZSTD_decompressStream(d->zstd, &out, &in);

	s->in_len = in.pos;
	s->out_len = out.pos;
	s->frame_ended = rc == 0;
	return ZSTD_isError(rc) ? -1 : 0;
}

static int step_lz4(struct decoder *d, struct step *s)
{
	size_t rc = LZ4F_decompress(d->lz4, s->out, &s->out_len, s->in,
				    &s->in_len, NULL);

	s->frame_ended = rc == 0;
	return LZ4F_isError(rc) ? -1 : 0;
}

/* Consumes some of the input; returns -1 if it is not in that encoding. */
static int decoder_step(struct decoder *d, struct step *s)
{
	switch (d->coding) {
	case CODING_GZIP:
	case CODING_DEFLATE:
		return step_zlib(d, s);
	case CODING_ZSTD:
		return step_zstd(d, s);
	default:
		return step_lz4(d, s);
	}
}

static int decode_all(struct decoder *d, const unsigned char *data, size_t len,
		      size_t max, struct buf *out, struct error *err)
{
	struct step s = {.frame_ended = true};

	/* If the output is full, the decoder may hold more of the frame
	 * although no input is left. */
	while (len > 0 || (!s.frame_ended && s.out_len == STEP)) {
		s = (struct step){data, len, buf_reserve(out, STEP), STEP,
				  false};
		if (!s.out)
			return error_set_nomem(err);
		if (decoder_step(d, &s) < 0)
			return failure_set(err, FAILURE_CANNOT_DECOMPRESS,
					   "The request's body is not %s, or "
					   "damaged",
					   coding_name(d->coding));
		out->len += s.out_len;
		data += s.in_len;
		len -= s.in_len;
		if (out->len > max)
			return failure_set(err, FAILURE_QUERY_IS_TOO_LARGE,
					   "The request's body is larger than "
					   "%zu bytes when decompressed",
					   max);
	}
	if (!s.frame_ended)
		return failure_set(err, FAILURE_CANNOT_DECOMPRESS,
				   "The request's body ends in the middle of "
				   "its %s data",
				   coding_name(d->coding));
	return 0;
}

int coding_decode(enum coding coding, const void *data, size_t len, size_t max,
		  struct buf *out, struct error *err)
{
	struct decoder d;
	int rc;

	if (decoder_open(&d, coding) < 0)
		return error_set_nomem(err);
	rc = decode_all(&d, data, len, max, out, err);
	decoder_close(&d);
	return rc;
}

/* --- encoding ------------------------------------------------------------- */

static int encode_zlib(enum coding coding, const void *data, size_t len,
		       struct buf *out)
{
	z_stream z = {0};
	size_t bound;
	int rc;

	if (len > UINT32_MAX / 2 ||
	    deflateInit2(&z, ZLIB_LEVEL, Z_DEFLATED,
			 coding == CODING_GZIP ? GZIP_WINDOW : 15, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -1;
	bound = deflateBound(&z, len);
	z.next_in = data;
	z.avail_in = (uInt)len;
	z.next_out = (Bytef *)buf_reserve(out, bound);
	z.avail_out = (uInt)bound;
	rc = z.next_out ? deflate(&z, Z_FINISH) : Z_MEM_ERROR;
	out->len += rc == Z_STREAM_END ? z.total_out : 0;
	deflateEnd(&z);
	return rc == Z_STREAM_END ? 0 : -1;
}

static int encode_zstd(const void *data, size_t len, struct buf *out)
{
	size_t bound = ZSTD_compressBound(len), rc;
	char *to = buf_reserve(out, bound);

	if (!to)
		return -1;
	rc = ZSTD_compress(to, bound, data, len, ZSTD_LEVEL);
	if (ZSTD_isError(rc))
		return -1;
	out->len += rc;
	return 0;
}

static int encode_lz4(const void *data, size_t len, struct buf *out)
{
	size_t bound = LZ4F_compressFrameBound(len, NULL), rc;
	char *to = buf_reserve(out, bound);

	if (!to)
		return -1;
	rc = LZ4F_compressFrame(to, bound, data, len, NULL);
	if (LZ4F_isError(rc))
		return -1;
	out->len += rc;
	return 0;
}

int coding_encode(enum coding coding, const void *data, size_t len,
		  struct buf *out, struct error *err)
{
	int rc;

	if (coding == CODING_ZSTD)
		rc = encode_zstd(data, len, out);
	else if (coding == CODING_LZ4)
		rc = encode_lz4(data, len, out);
	else
		rc = encode_zlib(coding, data, len, out);
	return rc < 0 ? error_set_nomem(err) : 0;
}
