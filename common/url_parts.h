/* url_parts.h - the parts of a URL, and its normal form, which links have. */
#ifndef COMMON_URL_PARTS_H
#define COMMON_URL_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/host.h"
#include "common/url_scheme.h"

struct url_slice {
	const char *data;
	size_t len;
};

struct url_parts {
	char scheme[URL_SCHEME_MAX]; /* lower case */
	bool is_web;		     /* http or https */
	/* For web URLs: */
	struct url_slice user; /* with its '@', or empty */
	struct host host;
	struct url_slice port; /* with its ':', or empty */
	/* Path, query and fragment; for another scheme, all that follows the
	 * colon. */
	struct url_slice rest;
};

/*
 * Splits a URL the way browsers do (WHATWG URL), and refuses text that browsers
 * and other programs may read differently.  ERROR_INPUT says what is wrong.
 * Slices point into the URL.
 */
int url_parts_read(struct url_parts *parts, const char *url, size_t len,
		   struct error *err);

/*
 * Appends the normal form: scheme and host in lower case, the host as A-labels,
 * without a trailing dot or an empty port; characters that a URI may not have
 * are percent-encoded (common/uri.h).
 */
void url_parts_put_normal(const struct url_parts *parts, struct buf *out);

#endif
