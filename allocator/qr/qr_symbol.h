/* qr_symbol.h - the square of modules, and who draws it.  For allocator/qr/
 * only. */
#ifndef ALLOCATOR_QR_QR_SYMBOL_H
#define ALLOCATOR_QR_QR_SYMBOL_H

#include <stdbool.h>

#include "allocator/qr/qr.h"

struct qr_symbol {
	unsigned width; /* modules, without margin */
	const unsigned char *modules;
};

static inline bool qr_is_dark(const struct qr_symbol *symbol, unsigned x,
			      unsigned y)
{
	return symbol->modules[y * symbol->width + x] & 1;
}

int qr_svg(const struct qr_symbol *symbol, const struct qr_options *options,
	   struct buf *out, struct error *err);
int qr_png(const struct qr_symbol *symbol, const struct qr_options *options,
	   struct buf *out, struct error *err);

#endif
