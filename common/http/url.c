#include "common/http/url.h"

#include <stdlib.h>
#include <string.h>

#include "common/hex.h"

#define PARAMS_MAX 64

/* Decodes %XX, and '+' as a space. */
static int decode_escapes(struct http_slice text, char *out, struct error *err)
{
	size_t i;
	int c;

	for (i = 0; i < text.len; i++) {
		c = (unsigned char)text.data[i];
		if (c == '%') {
			c = hex_byte(text.data + i + 1, text.len - i - 1);
			i += 2;
		} else if (c == '+') {
			c = ' ';
		}
		if (c < 0)
			return error_set(err, ERROR_INPUT,
					 "a '%%' without two hex digits");
		if (c == 0)
			return error_set(err, ERROR_INPUT, "a NUL byte");
		*out++ = (char)c;
	}
	*out = '\0';
	return 0;
}

char url_take_decoded(struct http_slice *text)
{
	char c = text->data[0];
	int value = c == '%' ? hex_byte(text->data + 1, text->len - 1) : -1;
	size_t taken = value >= 0 ? 3 : 1;

	text->data += taken;
	text->len -= taken;
	return value >= 0 ? (char)value : c;
}

static int decode_new(struct http_slice text, char **ret_text,
		      struct error *err)
{
	char *out = malloc(text.len + 1);

	if (!out)
		return error_set_nomem(err);
	if (decode_escapes(text, out, err) < 0) {
		free(out);
		return -1;
	}
	*ret_text = out;
	return 0;
}

static int add_query_param(struct url_params *params, struct http_slice pair,
			   struct error *err)
{
	struct url_param *param = &params->items[params->count];
	const char *equals = memchr(pair.data, '=', pair.len);
	struct http_slice key = pair, value = {"", 0};

	if (equals) {
		key.len = (size_t)(equals - pair.data);
		value = (struct http_slice){equals + 1, pair.len - key.len - 1};
	}
	if (params->count == PARAMS_MAX)
		return error_set(err, ERROR_INPUT,
				 "more than %d query parameters", PARAMS_MAX);
	if (decode_new(key, &param->key, err) < 0)
		return -1;
	if (decode_new(value, &param->value, err) < 0) {
		error_wrap_field(err, param->key);
		free(param->key);
		return -1;
	}
	params->count++;
	return 0;
}

int url_params_parse(struct url_params *params, struct http_slice query,
		     struct error *err)
{
	struct http_slice pair;
	const char *end;
	size_t used;

	*params = (struct url_params){0};
	if (query.len == 0)
		return 0;
	/* The array has one place more, so that add_query_param() notices a
	 * parameter that does not fit. */
	params->items = calloc(PARAMS_MAX + 1, sizeof(*params->items));
	if (!params->items)
		return error_set_nomem(err);
	while (query.len > 0) {
		end = memchr(query.data, '&', query.len);
		pair = query;
		if (end)
			pair.len = (size_t)(end - query.data);
		if (pair.len > 0 && add_query_param(params, pair, err) < 0)
			return error_wrap(err, "query string");
		used = pair.len + (end ? 1 : 0);
		query.data += used;
		query.len -= used;
	}
	return 0;
}

void url_params_free(struct url_params *params)
{
	size_t i;

	for (i = 0; i < params->count; i++) {
		free(params->items[i].key);
		free(params->items[i].value);
	}
	free(params->items);
	*params = (struct url_params){0};
}

const char *url_param_get(const struct url_params *params, const char *key)
{
	size_t i;

	for (i = 0; i < params->count; i++) {
		if (strcmp(params->items[i].key, key) == 0)
			return params->items[i].value;
	}
	return NULL;
}
