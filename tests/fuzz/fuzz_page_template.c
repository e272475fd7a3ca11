/*
 * Any bytes as a page: it is refused with a reason, or accepted; then no value
 * adds a character that ends the context of the value.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "redirector/pages/page_template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MARKUP "\"'<>"

static size_t count_markup(const struct page_template *page, const char *value)
{
	const struct http_slice slice = {value, strlen(value)};
	const struct http_slice values[PAGE_VALUES] = {slice, slice, slice};
	struct buf out = {0};
	size_t count = 0;

	page_template_write(page, values, &out);
	if (out.failed)
		abort();
	for (size_t i = 0; i < out.len; i++)
		count += strchr(MARKUP, out.data[i]) != NULL;
	buf_free(&out);
	return count;
}

static void check_head(const struct page_template *page)
{
	struct http_slice head = page_template_head(page);
	const char *policy = memmem(head.data, head.len, "default-src 'none'",
				    strlen("default-src 'none'"));

	assert(policy && head.len > 2 && head.data[head.len - 1] == '\n');
	assert(!memmem(policy, head.len - (size_t)(policy - head.data),
		       "unsafe", 6));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = {0};
	struct page_template *page = page_template_new(
		"page", (struct http_slice){(const char *)data, size}, &err);

	if (!page) {
		assert(err.code == ERROR_CONFIG && err.text[0]);
		return 0;
	}
	assert(count_markup(page, "") ==
	       count_markup(page, MARKUP "&{{open}}"));
	check_head(page);
	page_template_free(page);
	return 0;
}
