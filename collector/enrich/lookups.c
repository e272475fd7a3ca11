#include "collector/enrich/lookups.h"

#include <stdlib.h>

void enrich_lookups_free(struct enrich_lookups *l)
{
	if (!l)
		return;
	agent_lookup_free(l->agents);
	place_lookup_free(l->places);
	reference_release(&l->ref);
	free(l);
}

struct enrich_lookups *
enrich_lookups_new(const struct collector_settings *settings, struct error *err)
{
	struct enrich_lookups *l = calloc(1, sizeof(*l));

	if (!l) {
		error_set_nomem(err);
		return NULL;
	}
	if (reference_load(&l->ref, settings, err) < 0)
		goto fail;
	l->agents = agent_lookup_new(&l->ref, (size_t)settings->ua_cache, err);
	l->places =
		place_lookup_new(l->ref.geo, (size_t)settings->geo_cache, err);
	if (l->agents && l->places)
		return l;
fail:
	enrich_lookups_free(l);
	return NULL;
}
