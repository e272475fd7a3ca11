/*
 * lookups.h - the reference files and what is kept of answers from them.
 *
 * A file and its answers are made and dropped together, so that no answer
 * outlives the file it was read from.  Made on any thread; used by one at a
 * time, which may be another one.
 */
#ifndef COLLECTOR_ENRICH_LOOKUPS_H
#define COLLECTOR_ENRICH_LOOKUPS_H

#include "collector/collector_config.h"
#include "collector/enrich/agent.h"
#include "collector/enrich/place.h"
#include "collector/enrich/reference.h"
#include "common/error.h"

struct enrich_lookups {
	struct reference ref;
	struct agent_lookup *agents;
	struct place_lookup *places;
};

/* Reads the files, which can take a second or more.  A bad one is ERROR_CONFIG
 * naming it. */
struct enrich_lookups *
enrich_lookups_new(const struct collector_settings *settings,
		   struct error *err);
/* Reads only the geo files: `agents` is NULL, and `ref` has nothing else.
 * After an exchange the cache of user agents stays filled. */
struct enrich_lookups *
enrich_lookups_new_places(const struct collector_settings *settings,
			  struct error *err);
void enrich_lookups_free(struct enrich_lookups *l); /* NULL accepted */

/* Swaps what `fresh` has, everything or the places, with the same of `l`. */
void enrich_lookups_exchange(struct enrich_lookups *l,
			     struct enrich_lookups *fresh);

#endif
