/*
 * reference.h - the files that events are looked up in: user-agent rules, the
 * lists of robots, the operator's rules, sources, places.  Read-only once
 * loaded.
 */
#ifndef COLLECTOR_ENRICH_REFERENCE_H
#define COLLECTOR_ENRICH_REFERENCE_H

#include "collector/collector_config.h"
#include "collector/enrich/geo/geo.h"
#include "collector/enrich/sources.h"
#include "collector/enrich/ua/ua_rules.h"
#include "collector/enrich/verdict_rules.h"
#include "common/agent/bots.h"

struct reference {
	struct ua_rules *ua;
	struct bots *bots;
	struct geo *geo;
	struct sources *sources;
	struct verdict_rules *verdict_rules;
	uint32_t rules; /* those for verdicts: the column verdict_version */
};

/* Start from zeros, end with reference_release, after a failure too.  A bad
 * file is ERROR_CONFIG naming it. */
int reference_load_rules(struct reference *ref,
			 const struct collector_settings *settings,
			 struct error *err);
int reference_load_places(struct reference *ref,
			  const struct collector_settings *settings,
			  struct error *err);
void reference_release(struct reference *ref);

/* What is surely not meant, though each file is as it should be; static.  NULL:
 * there is no such thing. */
const char *reference_remark(const struct reference *ref);

#endif
