/*
 * link_lines.h - what of a link's answer is made once and kept with it: for
 * each device that has a target, the header lines of its redirect, or what its
 * page opens.
 */
#ifndef REDIRECTOR_LINK_LINES_H
#define REDIRECTOR_LINK_LINES_H

#include <stdbool.h>

#include "common/buf.h"
#include "common/error.h"
#include "redirector/device.h"
#include "redirector/link_cache.h"

#define LOCATION "Location: " /* the lines of a redirect begin with it */

/* A visit that is not seen is not counted. */
#define SEEN_EVERY_TIME "private, max-age=0"

/* The part of a redirect that does not depend on its URL. */
struct redirect_form {
	int status;   /* 302, 301, 307, 308 */
	bool varies;  /* with the device */
	bool counted; /* visits are numbered: no answer may be kept */
};

/* Is it one that browsers may keep (301, 308)? */
bool redirect_is_permanent(int status);

/*
 * Appends the header lines of a redirect, with the URL as a URI (common/uri.h):
 * a record may come from elsewhere.  Those of a permanent one lack its caching,
 * which depends on the time left.  Returns -1 with ERROR_PROTOCOL when the URL
 * is empty or has a control character.
 */
int link_lines_put(struct buf *out, const struct redirect_form *form,
		   const char *url, struct error *err);

/*
 * Appends what a page opens and where its fallback leads, each as a URI and
 * ended by a NUL.
 * Returns -1 with ERROR_PROTOCOL when either is no URL that a page of ours may
 * have: a record comes from elsewhere.
 */
int link_lines_put_landing(struct buf *out, const char *open,
			   const char *fallback, struct error *err);

/* Whose target a visitor with that device gets. */
Shortloop__Device link_lines_target(const struct cached_link *link,
				    struct device device);

/* What was put of that target; part of the link. */
struct http_slice link_lines_of(const struct cached_link *link,
				Shortloop__Device target);

/* The URL in the lines of a redirect; part of them. */
struct http_slice link_lines_url(struct http_slice lines);

#endif
