/*
 * reference.h - the reference files for events: user-agent rules, the lists of
 * robots, the operator's rules, sources, places.  Read-only once loaded.
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
	/* Number of the rules for verdicts: the column verdict_version. */
	uint32_t rules;
};

/* Start from zeros, end with reference_release, also after a failure.  An
 * invalid file is ERROR_CONFIG naming it. */
int reference_load_rules(struct reference *ref,
			 const struct collector_settings *settings,
			 struct error *err);
int reference_load_places(struct reference *ref,
			  const struct collector_settings *settings,
			  struct error *err);
void reference_release(struct reference *ref);

/* Returns a remark about what is certainly not intended, although each file is
 * valid; static.  NULL: there is none. */
const char *reference_remark(const struct reference *ref);

#endif
