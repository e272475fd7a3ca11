#include "redirector/visit/trace_context.h"

#include <stddef.h>
#include <string.h>

enum {
	PARENT_ID_SIZE = 8,
	TRACE_AT = 3, /* behind "00-" */
	PARENT_AT = TRACE_AT + 2 * TRACE_ID_SIZE + 1,
	FLAGS_AT = PARENT_AT + 2 * PARENT_ID_SIZE + 1,
	VALUE_LEN = FLAGS_AT + 2,
};

/* hex_digit accepts capitals as well, which a traceparent must not have. */
static int lower_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_bytes(const char *text, size_t count, uint8_t *out)
{
	for (size_t i = 0; i < count; i++) {
		int high = lower_digit(text[2 * i]),
		    low = lower_digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		out[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* An id of all zeros is invalid. */
static bool read_id(const char *text, size_t count, uint8_t *out)
{
	uint8_t any = 0;

	if (!read_bytes(text, count, out))
		return false;
	for (size_t i = 0; i < count; i++)
		any |= out[i];
	return any;
}

bool traceparent_read(struct http_slice value, uint8_t ret_id[TRACE_ID_SIZE])
{
	uint8_t trace[TRACE_ID_SIZE], parent[PARENT_ID_SIZE], flags;
	const char *text = value.data;

	if (value.len != VALUE_LEN || memcmp(text, "00-", TRACE_AT) != 0 ||
	    text[PARENT_AT - 1] != '-' || text[FLAGS_AT - 1] != '-')
		return false;
	if (!read_id(text + TRACE_AT, sizeof(trace), trace) ||
	    !read_id(text + PARENT_AT, sizeof(parent), parent) ||
	    !read_bytes(text + FLAGS_AT, 1, &flags))
		return false;
	memcpy(ret_id, trace, sizeof(trace));
	return true;
}
