/*
 * uri.h - converts our URLs to URIs (RFC 3986), the only form allowed in a
 * Location and in other output.
 *
 * Characters not allowed in a URI are percent-encoded: bytes beyond ASCII,
 * blanks, control characters, " < > \ ^ ` { | }, a percent sign without two hex
 * digits, brackets except those of an IPv6 address, a second # and any @ before
 * the last one before a host.  An existing escape stays unchanged, so that a
 * URI passes byte for byte and nothing is encoded twice.
 */
#ifndef COMMON_URI_H
#define COMMON_URI_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

/*
 * Appends the URL as a URI.  The host of http and https becomes an A-label if
 * it has characters not allowed in a URI (common/host.h); if that is
 * impossible, and in other schemes, it is percent-encoded like the rest.
 */
void uri_put(struct buf *out, const char *url, size_t len);

/* Appends what follows the authority: path, query and fragment. */
void uri_put_rest(struct buf *out, const char *text, size_t len);

/* Appends a part of a path, of a query, of a fragment or of what precedes an @:
 * a '#' in it does not begin a fragment. */
void uri_put_part(struct buf *out, const char *text, size_t len);

/* Returns true for http or https with a valid host and a numeric port, if any,
 * and without blanks and control characters. */
bool uri_is_web(const char *url, size_t len);

/*
 * Returns true if a visitor may choose a path that is appended to this URL.
 * False if it could become the host ("app://"), or if the URL has no path of
 * segments ("mailto:ann@example.org").
 */
bool uri_takes_path(const char *url, size_t len);

#endif
