/* Any bytes as a query string or a path: refused, or decoded to at most as many
 * bytes, without a NUL. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/http/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode_path(struct http_slice text)
{
	char *out = malloc(text.len + 1);
	struct error err = {0};

	if (!out)
		abort();
	if (url_decode(text, out, &err) == 0)
		assert(strlen(out) <= text.len);
	else
		assert(err.code == ERROR_INPUT);
	free(out);
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
