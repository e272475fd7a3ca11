/* url_parts.h - the parts of a URL that a policy is about. */
#ifndef ALLOCATOR_POLICY_URL_PARTS_H
#define ALLOCATOR_POLICY_URL_PARTS_H

#include <stdbool.h>
#include <stddef.h>

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
	/* Of web URLs: */
	struct url_slice user; /* with its '@', or empty */
	struct host host;
	struct url_slice port; /* with its ':', or empty */
	/* Path, query and fragment; all behind the colon of another scheme. */
	struct url_slice rest;
};

/*
 * Takes a URL apart the way browsers do (WHATWG URL), and refuses what they and
 * others may read differently.  ERROR_INPUT says what is wrong.  Slices point
 * into the URL.
 */
int url_parts_read(struct url_parts *parts, const char *url, size_t len,
		   struct error *err);

#endif
