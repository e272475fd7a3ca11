#include "common/url_digest.h"

#include <sodium.h>
#include <string.h>

#include "common/uri.h"
#include "common/url_parts.h"

void url_digest(const char *url, size_t len,
		unsigned char ret_digest[URL_DIGEST_SIZE])
{
	unsigned char whole[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(whole, (const unsigned char *)url, len);
	memcpy(ret_digest, whole, URL_DIGEST_SIZE);
}

bool url_digest_is(const char *text, size_t len)
{
	if (len != URL_DIGEST_TEXT - 1)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!(text[i] >= '0' && text[i] <= '9') &&
		    !(text[i] >= 'a' && text[i] <= 'f'))
			return false;
	return true;
}

void url_digest_put(struct buf *out, const char *url, size_t len)
{
	unsigned char digest[URL_DIGEST_SIZE];
	char text[URL_DIGEST_TEXT];
	struct buf stored = {0};

	url_put_stored(&stored, url, len);
	out->failed |= stored.failed;
	if (!stored.failed) {
		url_digest(stored.data, stored.len, digest);
		sodium_bin2hex(text, sizeof(text), digest, sizeof(digest));
		buf_puts(out, text);
	}
	buf_free(&stored);
}

void url_put_stored(struct buf *out, const char *url, size_t len)
{
	struct url_parts parts;
	struct error ignored;

	if (url_parts_read(&parts, url, len, &ignored) == 0)
		url_parts_put_normal(&parts, out);
	else
		uri_put(out, url, len);
}
