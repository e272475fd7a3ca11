#include "allocator/qr/qr.h"

#include <errno.h>
#include <qrencode.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/qr/qr_symbol.h"
#include "common/http/url.h"

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

/* --- pictures ------------------------------------------------------------- */

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
	struct qr_symbol symbol;
	QRcode *code;
	int status;

	/* Version 0: the smallest that holds it; codes have case. */
	code = QRcode_encodeString(text, 0, level_of(options->level), QR_MODE_8,
				   1);
	if (!code && errno == ENOMEM)
		return error_set_nomem(err);
	if (!code)
		return error_set(err, ERROR_INPUT,
				 "level: the short URL is too long for a QR "
				 "code of level %c; ask for a lower one",
				 options->level);
	symbol = (struct qr_symbol){(unsigned)code->width, code->data};
	status = options->format == QR_PNG ? qr_png(&symbol, options, out, err)
					   : qr_svg(&symbol, options, out, err);
	QRcode_free(code);
	return status;
}

const char *qr_content_type(enum qr_format format)
{
	return format == QR_PNG ? "image/png" : "image/svg+xml";
}
