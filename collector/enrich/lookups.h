/*
 * lookups.h - the reference files and the caches of answers from them.
 *
 * A file and its cache are made and freed together, so that no answer outlives
 * its file.  They can be made on any thread; one thread at a time uses them,
 * and this may change.
 */
#ifndef COLLECTOR_ENRICH_LOOKUPS_H
#define COLLECTOR_ENRICH_LOOKUPS_H

#include "collector/collector_config.h"
#include "collector/enrich/agent.h"
#include "collector/enrich/place.h"
#include "collector/enrich/reference.h"
#include "collector/enrich/referrer_site.h"
#include "common/error.h"

struct enrich_lookups {
	struct reference ref;
	struct agent_lookup *agents;
	struct place_lookup *places;
	struct site_lookup *sites;
};

/* Reads the files, which can take a second or more.  An invalid one is
 * ERROR_CONFIG naming it. */
struct enrich_lookups *
enrich_lookups_new(const struct collector_settings *settings,
		   struct error *err);
/* Reads only the geo files: `agents` and `sites` are NULL, and `ref` has
 * nothing else. After an exchange the cache of user agents stays filled. */
struct enrich_lookups *
enrich_lookups_new_places(const struct collector_settings *settings,
			  struct error *err);
void enrich_lookups_free(struct enrich_lookups *l); /* NULL accepted */

/* Swaps the contents of `fresh`, all or only the places, with the same of
 * `l`. */
void enrich_lookups_exchange(struct enrich_lookups *l,
			     struct enrich_lookups *fresh);

#endif
