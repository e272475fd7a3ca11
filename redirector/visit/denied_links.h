/*
 * denied_links.h - whether a cached link leads to a denied host
 * (linkstore/denied_hosts.h).  That is evaluated once for each version of the
 * denied hosts; as long as they stay the same, a visit only compares two
 * revisions.
 *
 * Belongs to one thread.
 */
#ifndef REDIRECTOR_VISIT_DENIED_LINKS_H
#define REDIRECTOR_VISIT_DENIED_LINKS_H

#include "common/buf.h"
#include "common/versions.h"
#include "redirector/lookup/link_cache.h"
#include "schemas/link.pb-c.h"

/* The thread's user of the versions.  Zeroed at first, but for `of`. */
struct denied_links {
	struct versions_user hosts;
};

/* Sets `denied` of the link to what holds now. */
void denied_links_evaluate(struct denied_links *d, struct cached_link *link);
void denied_links_leave(struct denied_links *d);

/* Writes the hosts of all URLs of a link, each once and a line each, as the
 * cache entry keeps them. */
void denied_links_put_hosts(struct buf *out, const Shortloop__Link *link);

#endif
