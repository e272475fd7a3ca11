#include "allocator/qr/qr_symbol.h"

/* One run of dark modules in a row is one rectangle of the path. */
static void put_row(const struct qr_symbol *s, unsigned y, unsigned margin,
		    struct buf *out)
{
	unsigned x = 0, from;

	while (x < s->width) {
		if (!qr_is_dark(s, x, y)) {
			x++;
			continue;
		}
		from = x;
		while (x < s->width && qr_is_dark(s, x, y))
			x++;
		buf_printf(out, "M%u %uh%uv1h-%uz", from + margin, y + margin,
			   x - from, x - from);
	}
}

int qr_svg(const struct qr_symbol *symbol, const struct qr_options *options,
	   struct buf *out, struct error *err)
{
	unsigned modules = symbol->width + 2 * options->margin;

	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" "
		   "height=\"%u\" viewBox=\"0 0 %u %u\" "
		   "shape-rendering=\"crispEdges\">"
		   "<path fill=\"#fff\" d=\"M0 0h%uv%uH0z\"/>"
		   "<path fill=\"#000\" d=\"",
		   options->size, options->size, modules, modules, modules,
		   modules);
	for (unsigned y = 0; y < symbol->width; y++)
		put_row(symbol, y, options->margin, out);
	buf_puts(out, "\"/></svg>\n");
	return out->failed ? error_set_nomem(err) : 0;
}
