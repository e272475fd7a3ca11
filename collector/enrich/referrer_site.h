/*
 * referrer_site.h - the site of a referrer: the registrable domain of its host,
 * google.com of www.google.com.
 *
 * A search of the public suffix list costs about a microsecond, and few hosts
 * send most visitors: the answers are cached.  Belongs to one thread.
 */
#ifndef COLLECTOR_ENRICH_REFERRER_SITE_H
#define COLLECTOR_ENRICH_REFERRER_SITE_H

#include "collector/enrich/referrer.h"
#include "collector/enrich/sources.h"
#include "common/error.h"

struct site_lookup;

/* `sources` must outlive it. */
struct site_lookup *site_lookup_new(const struct sources *sources,
				    struct error *err);
void site_lookup_free(struct site_lookup *l); /* NULL accepted */

/* Returns the site, a part of r->host: sources_site, but an app is its own
 * site; "" without a host. */
const char *site_lookup_find(struct site_lookup *l, const struct referrer *r);

#endif
