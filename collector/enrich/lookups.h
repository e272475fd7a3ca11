/*
 * lookups.h - the reference files and what is kept of answers from them.
 *
 * Both are made and dropped together, so that no answer outlives the files it
 * was read from.  Made on any thread; used by one at a time, which may be
 * another one.
 */
#ifndef COLLECTOR_ENRICH_LOOKUPS_H
#define COLLECTOR_ENRICH_LOOKUPS_H

#include "collector/collector_config.h"
#include "collector/enrich/agent.h"
#include "collector/enrich/place.h"
#include "collector/enrich/reference.h"
#include "common/error.h"

struct lookups {
	struct reference ref;
	struct agent_lookup *agents;
	struct place_lookup *places;
};

/* Reads the files, which can take a second or more.  A bad one is ERROR_CONFIG
 * naming it. */
struct lookups *lookups_new(const struct collector_settings *settings,
			    struct error *err);
void lookups_free(struct lookups *l); /* NULL accepted */

#endif
