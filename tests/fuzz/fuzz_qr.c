/* Any bytes as the query string of a QR code: refused with a reason, or drawn
 * within the limits; and any text as its content. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/qr/qr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void draw_text(const char *text, struct qr_options *options)
{
	struct buf out = {0};
	struct error err = {0};

	/* Larger pictures only take longer. */
	options->size %= 300;
	if (qr_draw(text, options, &out, &err) == 0)
		assert(out.len > 50);
	else
		assert(err.code == ERROR_INPUT && err.text[0]);
	buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *split = size ? memchr(data, '\n', size) : NULL;
	size_t len = split ? (size_t)(split - (const char *)data) : size;
	struct http_slice query = {(const char *)data, len};
	struct qr_options options = {.size = 7777};
	struct error err = {0};
	char *text;

	if (qr_options_parse(query, &options, &err) < 0) {
		assert(err.code == ERROR_INPUT && options.size == 7777);
		return 0;
	}
	assert(options.size >= QR_SIZE_MIN && options.size <= QR_SIZE_MAX);
	assert(options.margin <= QR_MARGIN_MAX);
	assert(strchr("LMQH", options.level));
	text = split ? strndup(split + 1, size - len - 1) : strdup("x");
	if (!text)
		abort();
	if (*text)
		draw_text(text, &options);
	free(text);
	return 0;
}
