/*
 * known_links.h - what one thread knows of links, and whether that is current:
 * its cache (link_cache.h), by what it has heard of links that changed
 * (freshness.h).
 *
 * Belongs to its loop's thread.  Times are monotonic ms.
 */
#ifndef REDIRECTOR_KNOWN_LINKS_H
#define REDIRECTOR_KNOWN_LINKS_H

#include <stdbool.h>

#include "common/error.h"
#include "common/http/http_server.h"
#include "redirector/freshness.h"
#include "redirector/link_cache.h"
#include "redirector/server.h"

struct known_links;

/* `fn` is called with each code that has changed, once the cache has let go of
 * it, and must not call back.  What `server` has must outlive it. */
struct known_links *known_links_new(const struct server_context *server,
				    freshness_fn *fn, void *arg,
				    struct error *err);
void known_links_free(struct known_links *k); /* NULL accepted */

/* What the thread hears of changes; lives as long as `k`. */
struct freshness_reader *known_links_changes(struct known_links *k);

/* What is known of the code, until the next put; NULL: nothing, or what the
 * cache has may have been changed. */
struct cached_link *known_links_find(struct known_links *k,
				     struct http_slice code);
void known_links_put(struct known_links *k, struct http_slice code,
		     const struct cached_link *link);

/* Is the entry the answer? */
bool known_links_is_fresh(const struct known_links *k,
			  const struct cached_link *link);

/* Else: may it be while Redis cannot be asked?  A link that was there and has
 * not expired still is, as far as anybody knows, unless its visits would have
 * to be counted.  NULL accepted. */
bool known_links_may_stand_in(const struct known_links *k,
			      const struct cached_link *link);

/* Now, as a mark of what the thread has heard until then; and whether the link
 * has changed since, or may have. */
struct freshness_mark known_links_mark(const struct known_links *k);
bool known_links_changed_since(struct known_links *k, struct http_slice code,
			       const struct freshness_mark *mark);

/* Redis may be another one from now on: nothing is fresh. */
void known_links_distrust(struct known_links *k);

/* Sets the metrics of the cache; once a turn of the loop. */
void known_links_report(struct known_links *k);

#endif
