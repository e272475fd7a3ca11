/*
 * Any bytes as the beginning of a connection from a proxy: nothing is read
 * beyond them, and the result is the same for every split: "more" up to one
 * byte, from which on it is complete or malformed, whatever follows.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/http/proxy_protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The sanitizer checks reads beyond the end of the copy. */
static enum proxy_found parse_header_copy(const uint8_t *data, size_t size,
					  struct proxy_header *ret,
					  const char **ret_wrong)
{
	uint8_t *copy = malloc(size ? size : 1);
	enum proxy_found found;

	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	found = proxy_header_parse(copy, size, ret, ret_wrong);
	free(copy);
	return found;
}

static void check_complete(const struct proxy_header *h, size_t size)
{
	int family = h->source.ss_family;

	if (h->len == 0 || h->len > size || h->len > PROXY_HEADER_MAX)
		abort();
	if (h->has_source && family != AF_INET && family != AF_INET6)
		abort();
}

static bool is_same(const struct proxy_header *a, const struct proxy_header *b)
{
	return a->len == b->len && a->has_source == b->has_source &&
	       !memcmp(&a->source, &b->source, sizeof(a->source));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proxy_header whole = {0}, part = {0};
	const char *wrong = NULL;
	enum proxy_found found = parse_header_copy(data, size, &whole, &wrong);
	enum proxy_found first = PROXY_MORE;
	size_t n;

	if (found == PROXY_COMPLETE)
		check_complete(&whole, size);
	if (found == PROXY_MALFORMED && !wrong)
		abort();
	for (n = 0; n <= size && first == PROXY_MORE; n++)
		first = parse_header_copy(data, n, &part, &wrong);
	if (first != found || !is_same(&whole, &part))
		abort();
	/* Input that is longer than any header must not wait for more. */
	if (found == PROXY_MORE && size >= PROXY_HEADER_MAX)
		abort();
	if (found == PROXY_COMPLETE && n != whole.len + 1)
		abort();
	return 0;
}
