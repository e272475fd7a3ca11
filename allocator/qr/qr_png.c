#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/qr/qr_symbol.h"

enum {
	WHITE = 0xff
};

struct picture {
	const struct qr_symbol *symbol;
	unsigned size;	/* pixels */
	unsigned scale; /* pixels a module */
	unsigned edge;	/* pixels before the first module */
	unsigned char row[QR_SIZE_MAX / 8];
};

/* Lays the symbol out: whole pixels a module, the rest around it. */
static int lay_out(struct picture *p, const struct qr_symbol *symbol,
		   const struct qr_options *options, struct error *err)
{
	unsigned modules = symbol->width + 2 * options->margin;

	p->symbol = symbol;
	p->size = options->size;
	p->scale = options->size / modules;
	if (!p->scale)
		return error_set(err, ERROR_INPUT,
				 "size: this code has %u modules with its "
				 "margin and needs as many pixels",
				 modules);
	p->edge = (options->size - symbol->width * p->scale) / 2;
	return 0;
}

static void set_dark(struct picture *p, unsigned from, unsigned count)
{
	for (unsigned x = from; x < from + count; x++)
		p->row[x / 8] &= (unsigned char)~(0x80 >> x % 8);
}

static void draw_row(struct picture *p, unsigned y)
{
	memset(p->row, WHITE, sizeof(p->row));
	for (unsigned x = 0; x < p->symbol->width; x++) {
		if (qr_is_dark(p->symbol, x, y))
			set_dark(p, p->edge + x * p->scale, p->scale);
	}
}

static void write_blank(struct picture *p, png_structp png, unsigned rows)
{
	memset(p->row, WHITE, sizeof(p->row));
	while (rows--)
		png_write_row(png, p->row);
}

static void write_rows(struct picture *p, png_structp png)
{
	unsigned drawn = p->symbol->width * p->scale;

	write_blank(p, png, p->edge);
	for (unsigned y = 0; y < p->symbol->width; y++) {
		draw_row(p, y);
		for (unsigned i = 0; i < p->scale; i++)
			png_write_row(png, p->row);
	}
	write_blank(p, png, p->size - drawn - p->edge);
}

static void take_bytes(png_structp png, png_bytep data, size_t len)
{
	struct buf *out = png_get_io_ptr(png);

	buf_append(out, data, len);
}

static void flush_nothing(png_structp png)
{
	(void)png;
}

/* -1: libpng gave up, which here can only mean memory. */
static int write_png(struct picture *p, png_structp png, png_infop info,
		     struct buf *out)
{
	if (setjmp(png_jmpbuf(png)))
		return -1;
	png_set_write_fn(png, out, take_bytes, flush_nothing);
	/* Rows repeat or are blank: the fastest level finds that too. */
	png_set_compression_level(png, 1);
	png_set_filter(png, 0, PNG_FILTER_NONE);
	png_set_IHDR(png, info, p->size, p->size, 1, PNG_COLOR_TYPE_GRAY,
		     PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
		     PNG_FILTER_TYPE_DEFAULT);
	png_write_info(png, info);
	write_rows(p, png);
	png_write_end(png, info);
	return 0;
}

int qr_png(const struct qr_symbol *symbol, const struct qr_options *options,
	   struct buf *out, struct error *err)
{
	struct picture picture = {0};
	png_structp png;
	png_infop info;
	int status = -1;

	if (lay_out(&picture, symbol, options, err) < 0)
		return -1;
	png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	info = png ? png_create_info_struct(png) : NULL;
	if (info)
		status = write_png(&picture, png, info, out);
	png_destroy_write_struct(&png, &info);
	return status < 0 || out->failed ? error_set_nomem(err) : 0;
}
