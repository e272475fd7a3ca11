/*
 * known_links.h - the links that one thread knows, and whether that is current:
 * its cache (link_cache.h), checked against the changes that it has received
 * (freshness.h).
 *
 * Belongs to its loop's thread.  Times are monotonic ms.
 */
#ifndef REDIRECTOR_VISIT_KNOWN_LINKS_H
#define REDIRECTOR_VISIT_KNOWN_LINKS_H

#include <stdbool.h>

#include "common/error.h"
#include "common/http/http_server.h"
#include "redirector/lookup/freshness.h"
#include "redirector/lookup/link_cache.h"
#include "redirector/server.h"

struct known_links;

/* `fn` is called with each code that has changed, after the cache has dropped
 * it, and must not call back.  All that `server` points to must outlive it. */
struct known_links *known_links_new(const struct server_context *server,
				    freshness_fn *fn, void *arg,
				    struct error *err);
void known_links_free(struct known_links *k); /* NULL accepted */

/* Returns the thread's reader of changes, which is valid as long as `k`. */
struct freshness_reader *known_links_changes(struct known_links *k);

/* Returns the entry of the code, valid until the next put; NULL if there is
 * none, or if the cached one may have been changed. */
struct cached_link *known_links_find(struct known_links *k,
				     struct http_slice code);
void known_links_put(struct known_links *k, struct http_slice code,
		     const struct cached_link *link);

/* True if the entry can be answered as it is. */
bool known_links_is_fresh(const struct known_links *k,
			  const struct cached_link *link);

/* True if an entry that is not fresh may be answered while Redis cannot be
 * queried.  A link that existed and has not expired is assumed to exist still,
 * unless its visits have to be counted.  NULL accepted. */
bool known_links_may_stand_in(const struct known_links *k,
			      const struct cached_link *link);

/* Returns a mark of the present, and of the changes that the thread has
 * received.  The second function returns whether the link has changed since, or
 * may have. */
struct freshness_mark known_links_mark(const struct known_links *k);
bool known_links_changed_since(struct known_links *k, struct http_slice code,
			       const struct freshness_mark *mark);

/* Redis may be another one from now on: no entry is fresh. */
void known_links_distrust(struct known_links *k);

/* Sets the metrics of the cache; called once a turn of the loop. */
void known_links_report(struct known_links *k);

#endif
