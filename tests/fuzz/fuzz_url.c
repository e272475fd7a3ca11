/* Any bytes as a query string, which is refused or decoded to at most as many
 * bytes, and as a path, which is decoded to its end and no further. */
#include <assert.h>
#include <string.h>

#include "common/http/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode_path(struct http_slice text)
{
	while (text.len > 0) {
		size_t left = text.len;

		url_take_decoded(&text);
		assert(text.len == left - 1 || text.len == left - 3);
	}
}

static void split_query(struct http_slice text)
{
	struct url_params params;
	struct error err = {0};
	size_t i, total = 0;

	if (url_params_parse(&params, text, &err) < 0)
		assert(err.code == ERROR_INPUT);
	for (i = 0; i < params.count; i++) {
		total += strlen(params.items[i].key);
		total += strlen(params.items[i].value);
		assert(url_param_get(&params, params.items[i].key));
	}
	assert(total <= text.len);
	url_params_free(&params);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_slice text = {(const char *)data, size};

	decode_path(text);
	split_query(text);
	return 0;
}
