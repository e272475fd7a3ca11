/*
 * url_digest.h - the digest by which a long URL is named in statistics: the
 * first 16 bytes of the SHA-256 of its normal form (url_parts.h), so that
 * clients and ClickHouse can compute it, too.
 */
#ifndef COMMON_URL_DIGEST_H
#define COMMON_URL_DIGEST_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

enum {
	URL_DIGEST_SIZE = 16,			   /* bytes */
	URL_DIGEST_TEXT = 2 * URL_DIGEST_SIZE + 1, /* in hexadecimal */
};

/* `url`: in its normal form, as links store it. */
void url_digest(const char *url, size_t len,
		unsigned char ret_digest[URL_DIGEST_SIZE]);

/* Returns whether the text is a digest: 32 hexadecimal digits in lower case. */
bool url_digest_is(const char *text, size_t len);

/* Appends the digest of a URL in any form, in hexadecimal. */
void url_digest_put(struct buf *out, const char *url, size_t len);

/*
 * Appends the normal form of a URL, in which links store it.  A text that the
 * allocator would refuse may be the URL of a link from elsewhere: it becomes a
 * URI.
 */
void url_put_stored(struct buf *out, const char *url, size_t len);

#endif
