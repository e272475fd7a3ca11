/*
 * uri.h - a URL of ours as a URI (RFC 3986), which is all that a Location and
 * what others read of it may be.
 *
 * What may not stand in a URI is percent-encoded: bytes beyond ASCII, blanks,
 * control characters, " < > \ ^ ` { | }, a percent sign without two hex digits,
 * brackets but those of an IPv6 address, a second # and an @ before the last in
 * front of a host.  What is an escape already stays one, so that a URI goes
 * through byte for byte and nothing is encoded twice.
 */
#ifndef COMMON_URI_H
#define COMMON_URI_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

/*
 * Appends the URL as a URI.  The host of http and https becomes an A-label
 * where it has other characters than a URI's (common/host.h); where that cannot
 * be, and in other schemes, it is percent-encoded as all else.
 */
void uri_put(struct buf *out, const char *url, size_t len);

/* Appends what stands behind the authority: path, query and fragment. */
void uri_put_rest(struct buf *out, const char *text, size_t len);

/* Appends a part of a path, of a query, of a fragment or in front of an @: a
 * '#' in it is none that begins a fragment. */
void uri_put_part(struct buf *out, const char *text, size_t len);

/* Is it http or https, with a host that can be one and a port that is a number,
 * if any, and without blanks and control characters? */
bool uri_is_web(const char *url, size_t len);

/*
 * May a visitor choose a path that is put behind this URL's?  Not where it
 * could become the host ("app://"), or where there is no path of segments
 * ("mailto:ann@example.org").
 */
bool uri_takes_path(const char *url, size_t len);

#endif
