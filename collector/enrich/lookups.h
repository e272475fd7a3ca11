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
/* Only the places: no `agents`, and a `ref` with nothing else.  What is known
 * of user agents stays known then. */
struct enrich_lookups *
enrich_lookups_new_places(const struct collector_settings *settings,
			  struct error *err);
void enrich_lookups_free(struct enrich_lookups *l); /* NULL accepted */

/* `l` takes over what `fresh` has, all or the places, and `fresh` gets what was
 * there instead. */
void enrich_lookups_exchange(struct enrich_lookups *l,
			     struct enrich_lookups *fresh);

#endif
