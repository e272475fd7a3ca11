/*
 * Any bytes as Accept-Encoding and If-None-Match: the chosen encoding is
 * accepted, one is chosen unless all are refused, and a header in two lines is
 * the same as one.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/http/encoding.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_chosen_encoding(const struct encoding_list *list, size_t len)
{
	enum encoding got;

	if (encoding_choose(list, len, &got)) {
		assert(encoding_accepted(list, got));
		return;
	}
	for (int e = 0; e < ENCODING_COUNT; e++)
		assert(!encoding_accepted(list, (enum encoding)e));
}

static void accept_lines(struct http_slice text)
{
	struct encoding_list one = encoding_list_empty;
	struct encoding_list two = encoding_list_empty;
	const char *comma = text.len ? memchr(text.data, ',', text.len) : NULL;
	size_t first = comma ? (size_t)(comma - text.data) : text.len;

	encoding_list_add(&one, text);
	encoding_list_add(&two, (struct http_slice){text.data, first});
	if (comma)
		encoding_list_add(
			&two,
			(struct http_slice){comma + 1, text.len - first - 1});
	assert(!memcmp(&one, &two, sizeof(one)));
	for (int e = 0; e < ENCODING_COUNT; e++)
		assert(one.weights[e] >= -1 && one.weights[e] <= 1000);
	check_chosen_encoding(&one, 10);
	check_chosen_encoding(&one, 10000);
}

static void match_tags(struct http_slice text)
{
	bool matches = encoding_etag_matches(text, "\"a\"");

	assert(!matches || memchr(text.data, 'a', text.len) ||
	       memchr(text.data, '*', text.len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* The copy has exactly this size, so that a read beyond it is noticed.
	 */
	char *copy = malloc(size ? size : 1);
	struct http_slice text = {copy, size};

	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	accept_lines(text);
	match_tags(text);
	free(copy);
	return 0;
}
