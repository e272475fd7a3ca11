/*
 * link_lines.h - the part of a link's answer that is made once and kept with
 * it: for each device that has a target, the header lines of its redirect, or
 * the URLs for its page.
 */
#ifndef REDIRECTOR_LOOKUP_LINK_LINES_H
#define REDIRECTOR_LOOKUP_LINK_LINES_H

#include <stdbool.h>

#include "common/buf.h"
#include "common/error.h"
#include "linkstore/visit/visit_device.h"
#include "redirector/lookup/link_cache.h"

#define LOCATION "Location: " /* the lines of a redirect begin with it */

/* Caching that makes browsers send every visit, so that it is counted. */
#define SEEN_EVERY_TIME "private, max-age=0"

/* The part of a redirect that does not depend on its URL. */
struct redirect_form {
	int status;   /* 302, 301, 307, 308 */
	bool varies;  /* depends on the device */
	bool counted; /* visits are limited: answers are not cached */
};

/* True if browsers may cache the redirect (301, 308). */
bool redirect_is_permanent(int status);

/*
 * Appends the header lines of a redirect, with the URL as a URI (common/uri.h),
 * since a record may come from another program.  The lines of a permanent
 * redirect lack its caching, which depends on the time left.  Returns -1 with
 * ERROR_PROTOCOL when the URL is empty or has a control character.
 */
int link_lines_put(struct buf *out, const struct redirect_form *form,
		   const char *url, struct error *err);

/*
 * Appends the URL that a page opens and that of its fallback, each as a URI and
 * terminated by a NUL.  Returns -1 with ERROR_PROTOCOL when a page must not
 * have one of them; this is checked since a record may come from another
 * program.
 */
int link_lines_put_landing(struct buf *out, const char *open,
			   const char *fallback, struct error *err);

/* Returns the target for a visitor with that device. */
Shortloop__Device link_lines_target(const struct cached_link *link,
				    struct device device);

/* Returns the bytes that were appended for that target; part of the link. */
struct http_slice link_lines_of(const struct cached_link *link,
				Shortloop__Device target);

/* Returns the digest of the target's URL, or none; part of the link. */
struct http_slice link_lines_url_digest(const struct cached_link *link,
					Shortloop__Device target);

/* Returns the URL in the lines of a redirect; part of them. */
struct http_slice link_lines_url(struct http_slice lines);

#endif
