/* Any bytes that a visit adds to a URL: they end no line, change neither scheme
 * nor host, and the URL's own utm_ parameters are kept. */
#include <stdlib.h>
#include <string.h>

#include "redirector/pages/pass_through.h"

static const char begin[] = "https://a.example/b";
static const char own[] = "utm_source=own";

static struct http_slice take_line(const uint8_t **data, size_t *size)
{
	const uint8_t *end = memchr(*data, '\n', *size);
	size_t len = end ? (size_t)(end - *data) : *size;
	struct http_slice one = {(const char *)*data, len};

	*data += len + (end != NULL);
	*size -= len + (end != NULL);
	return one;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char url[] = "https://a.example/b?utm_source=own&c=d#e";
	struct pass_through pass = {0};
	struct http_slice rest, query;
	struct buf out = {0};

	if (size < 1)
		return 0;
	pass.query = (Shortloop__QueryPass)(data[0] % 3);
	pass.path = data[0] & 4;
	data++;
	size--;
	rest = take_line(&data, &size);
	query = take_line(&data, &size);
	if (rest.len > 0 && rest.data[0] != '/')
		rest.len = 0;
	if (!pass_through_may_follow(rest))
		rest.len = 0;
	pass_through_url(&out, (struct http_slice){url, sizeof(url) - 1}, &pass,
			 rest, query);
	for (size_t i = 0; i < out.len; i++) {
		if (out.data[i] <= ' ' || out.data[i] == 0x7f)
			abort();
	}
	if (memcmp(out.data, begin, sizeof(begin) - 1) != 0 ||
	    !strstr(buf_cstr(&out), own))
		abort();
	buf_free(&out);
	return 0;
}
