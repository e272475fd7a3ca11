/* Any bytes as a URL: it becomes a URI, which stays unchanged; an input that is
 * a URI is kept byte for byte; and a path that is added never becomes the host.
 */
#include <stdlib.h>
#include <string.h>

#include "common/hex.h"
#include "common/uri.h"
#include "redirector/pages/pass_through.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The characters of RFC 3986 that need no escape; the caller checks brackets
 * and '#'. */
static bool may_stand(const char *text, size_t len, size_t i)
{
	static const char chars[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz-._~:/?#[]@!$&'"
				    "()*+,;=";

	if (text[i] == '%')
		return len - i >= 3 && hex_digit(text[i + 1]) >= 0 &&
		       hex_digit(text[i + 2]) >= 0;
	return text[i] && strchr(chars, text[i]);
}

static void check_uri(const struct buf *uri)
{
	size_t hashes = 0, brackets = 0;

	for (size_t i = 0; i < uri->len; i++) {
		if (!may_stand(uri->data, uri->len, i))
			abort();
		hashes += uri->data[i] == '#';
		brackets += uri->data[i] == '[' || uri->data[i] == ']';
	}
	if (hashes > 1 || (brackets != 0 && brackets != 2))
		abort();
}

static void check_again(const struct buf *uri)
{
	struct buf again = {0};

	uri_put(&again, uri->data, uri->len);
	if (again.len != uri->len ||
	    (uri->len && memcmp(again.data, uri->data, uri->len) != 0))
		abort();
	buf_free(&again);
}

/* Returns the length of scheme and authority, where a path begins. */
static size_t authority_end(const struct buf *uri)
{
	const char *text = uri->data;
	size_t colon = 0;

	while (colon < uri->len && text[colon] != ':' && text[colon] != '/')
		colon++;
	if (colon == uri->len || text[colon] != ':')
		return 0;
	colon++;
	if (uri->len - colon < 2 || memcmp(text + colon, "//", 2) != 0)
		return colon;
	colon += 2;
	while (colon < uri->len && !strchr("/?#", text[colon]))
		colon++;
	return colon;
}

static void check_path(const struct buf *uri)
{
	static const char rest[] = "//evil.example/@x";
	const struct pass_through pass = {.path = true};
	struct buf out = {0};
	size_t from = authority_end(uri);

	pass_through_url(&out, (struct http_slice){uri->data, uri->len}, &pass,
			 (struct http_slice){rest, sizeof(rest) - 1},
			 (struct http_slice){"", 0});
	if (authority_end(&out) != from ||
	    memcmp(out.data, uri->data, from) != 0)
		abort();
	buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct buf uri = {0};

	uri_put(&uri, text, size);
	check_uri(&uri);
	check_again(&uri);
	if (uri.len)
		check_path(&uri);
	uri_is_web(text, size);
	buf_free(&uri);
	return 0;
}
