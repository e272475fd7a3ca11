#include "allocator/qr/qr.h"

#include <errno.h>
#include <png.h>
#include <qrencode.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/http/url.h"

enum {
	WHITE = 0xff
};

const struct qr_options qr_options_default = {QR_SVG, 256, 4, 'M'};

/* --- parameters ----------------------------------------------------------- */

static int parse_number(const struct url_param *param, unsigned min,
			unsigned max, unsigned *ret, struct error *err)
{
	size_t len = strlen(param->value);
	unsigned long number = 0;

	if (len > 0 && len <= 5 && strspn(param->value, "0123456789") == len)
		number = strtoul(param->value, NULL, 10);
	else
		len = 0;
	if (!len || number < min || number > max)
		return error_set(err, ERROR_INPUT,
				 "%s: expected a number, %u to %u", param->key,
				 min, max);
	*ret = (unsigned)number;
	return 0;
}

static int parse_format(const char *value, enum qr_format *ret,
			struct error *err)
{
	if (!strcmp(value, "svg"))
		*ret = QR_SVG;
	else if (!strcmp(value, "png"))
		*ret = QR_PNG;
	else
		return error_set(err, ERROR_INPUT,
				 "format: expected svg or png");
	return 0;
}

static int parse_level(const char *value, char *ret, struct error *err)
{
	if (strlen(value) != 1 || !strchr("LMQH", value[0]))
		return error_set(err, ERROR_INPUT,
				 "level: expected L, M, Q or H");
	*ret = value[0];
	return 0;
}

static int parse_param(const struct url_param *param, struct qr_options *ret,
		       struct error *err)
{
	if (!strcmp(param->key, "format"))
		return parse_format(param->value, &ret->format, err);
	if (!strcmp(param->key, "size"))
		return parse_number(param, QR_SIZE_MIN, QR_SIZE_MAX, &ret->size,
				    err);
	if (!strcmp(param->key, "margin"))
		return parse_number(param, 0, QR_MARGIN_MAX, &ret->margin, err);
	if (!strcmp(param->key, "level"))
		return parse_level(param->value, &ret->level, err);
	return error_set(err, ERROR_INPUT,
			 "%.64s: is not a parameter of a QR code; known are "
			 "format, size, margin and level",
			 param->key);
}

static bool is_doubled(const struct url_params *params, size_t i)
{
	for (size_t j = 0; j < i; j++) {
		if (!strcmp(params->items[j].key, params->items[i].key))
			return true;
	}
	return false;
}

int qr_options_parse(struct http_slice query, struct qr_options *ret,
		     struct error *err)
{
	struct url_params params = {0};
	struct qr_options options = qr_options_default;
	int status = url_params_parse(&params, query, err);

	for (size_t i = 0; i < params.count && status == 0; i++) {
		status = parse_param(&params.items[i], &options, err);
		if (status == 0 && is_doubled(&params, i))
			status = error_set(err, ERROR_INPUT,
					   "%s: is given twice",
					   params.items[i].key);
	}
	url_params_free(&params);
	if (status == 0)
		*ret = options;
	return status;
}

/* --- symbol --------------------------------------------------------------- */

/* The square of modules, without its margin. */
struct symbol {
	unsigned width; /* modules */
	const unsigned char *modules;
};

static bool is_dark(const struct symbol *symbol, unsigned x, unsigned y)
{
	return symbol->modules[y * symbol->width + x] & 1;
}

/* --- SVG ------------------------------------------------------------------ */

/* Each run of dark modules in a row is one rectangle of the path. */
static void put_row(const struct symbol *s, unsigned y, unsigned margin,
		    struct buf *out)
{
	unsigned x = 0, from;

	while (x < s->width) {
		if (!is_dark(s, x, y)) {
			x++;
			continue;
		}
		from = x;
		while (x < s->width && is_dark(s, x, y))
			x++;
		buf_printf(out, "M%u %uh%uv1h-%uz", from + margin, y + margin,
			   x - from, x - from);
	}
}

static int write_svg(const struct symbol *symbol,
		     const struct qr_options *options, struct buf *out,
		     struct error *err)
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

/* --- PNG ------------------------------------------------------------------ */

struct picture {
	const struct symbol *symbol;
	unsigned size;	/* pixels */
	unsigned scale; /* pixels per module */
	unsigned edge;	/* pixels before the first module */
	unsigned char row[QR_SIZE_MAX / 8];
};

/* Computes the layout: whole pixels per module, the rest around the symbol. */
static int lay_out(struct picture *p, const struct symbol *symbol,
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
		if (is_dark(p->symbol, x, y))
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

/* Returns -1 if libpng failed, which here can only mean lack of memory. */
static int write_picture(struct picture *p, png_structp png, png_infop info,
			 struct buf *out)
{
	if (setjmp(png_jmpbuf(png)))
		return -1;
	png_set_write_fn(png, out, take_bytes, flush_nothing);
	/* Rows repeat or are blank, so the fastest level compresses them
	 * well. */
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

static int write_png(const struct symbol *symbol,
		     const struct qr_options *options, struct buf *out,
		     struct error *err)
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
		status = write_picture(&picture, png, info, out);
	png_destroy_write_struct(&png, &info);
	return status < 0 || out->failed ? error_set_nomem(err) : 0;
}

/* --- drawing -------------------------------------------------------------- */

static QRecLevel level_of(char level)
{
	switch (level) {
	case 'L':
		return QR_ECLEVEL_L;
	case 'Q':
		return QR_ECLEVEL_Q;
	case 'H':
		return QR_ECLEVEL_H;
	default:
		return QR_ECLEVEL_M;
	}
}

int qr_draw(const char *text, const struct qr_options *options, struct buf *out,
	    struct error *err)
{
	struct symbol symbol;
	QRcode *code;
	int status;

	/* Version 0 takes the smallest symbol that fits; the last argument
	 * keeps case. */
	code = QRcode_encodeString(text, 0, level_of(options->level), QR_MODE_8,
				   1);
	if (!code && errno == ENOMEM)
		return error_set_nomem(err);
	if (!code)
		return error_set(err, ERROR_INPUT,
				 "level: the short URL is too long for a QR "
				 "code of level %c; ask for a lower one",
				 options->level);
	symbol = (struct symbol){(unsigned)code->width, code->data};
	status = options->format == QR_PNG
			 ? write_png(&symbol, options, out, err)
			 : write_svg(&symbol, options, out, err);
	QRcode_free(code);
	return status;
}

const char *qr_content_type(enum qr_format format)
{
	return format == QR_PNG ? "image/png" : "image/svg+xml";
}
