#include "collector/enrich/lookups.h"

#include <stdlib.h>

void lookups_free(struct lookups *l)
{
	if (!l)
		return;
	agent_lookup_free(l->agents);
	place_lookup_free(l->places);
	reference_release(&l->ref);
	free(l);
}

struct lookups *lookups_new(const struct collector_settings *settings,
			    struct error *err)
{
	struct lookups *l = calloc(1, sizeof(*l));

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
	lookups_free(l);
	return NULL;
}
