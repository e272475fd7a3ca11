/*
 * qr.h - QR codes (ISO/IEC 18004) of short URLs, as SVG or PNG.
 *
 * libqrencode makes the symbol, libpng the file.  Every module of a PNG is the
 * same whole number of pixels, so that edges are crisp; pixels that are left
 * over become margin.
 */
#ifndef ALLOCATOR_QR_QR_H
#define ALLOCATOR_QR_QR_H

#include "common/buf.h"
#include "common/error.h"
#include "common/http/http_server.h"

enum qr_format {
	QR_SVG,
	QR_PNG,
};

#define QR_SIZE_MIN   16
#define QR_SIZE_MAX   4096
#define QR_MARGIN_MAX 32

struct qr_options {
	enum qr_format format;
	unsigned size;	 /* width and height of the picture, in pixels */
	unsigned margin; /* in modules; the standard requires 4 */
	char level;	 /* error correction: L, M, Q or H */
};

extern const struct qr_options qr_options_default; /* SVG, 256, 4, M */

/* Reads "format=png&size=512&margin=2&level=H", all of them optional.
 * ERROR_INPUT names the parameter and what was expected. */
int qr_options_parse(struct http_slice query, struct qr_options *ret,
		     struct error *err);

/* Appends the picture.  Returns ERROR_INPUT if the text does not fit into a QR
 * code, or if the code with its margin does not fit into a PNG of that size. */
int qr_draw(const char *text, const struct qr_options *options, struct buf *out,
	    struct error *err);

const char *qr_content_type(enum qr_format format);

#endif
