#include "collector/enrich/lookups.h"

#include <stdlib.h>

void enrich_lookups_free(struct enrich_lookups *l)
{
	if (!l)
		return;
	agent_lookup_free(l->agents);
	place_lookup_free(l->places);
	site_lookup_free(l->sites);
	reference_release(&l->ref);
	free(l);
}

static int add_places(struct enrich_lookups *l,
		      const struct collector_settings *settings,
		      struct error *err)
{
	if (reference_load_places(&l->ref, settings, err) < 0)
		return -1;
	l->places =
		place_lookup_new(l->ref.geo, (size_t)settings->geo_cache, err);
	return l->places ? 0 : -1;
}

static int add_agents(struct enrich_lookups *l,
		      const struct collector_settings *settings,
		      struct error *err)
{
	if (reference_load_rules(&l->ref, settings, err) < 0)
		return -1;
	l->agents = agent_lookup_new(&l->ref, (size_t)settings->ua_cache, err);
	if (!l->agents)
		return -1;
	l->sites = site_lookup_new(l->ref.sources, err);
	return l->sites ? 0 : -1;
}

static struct enrich_lookups *
make_lookups(const struct collector_settings *settings, bool agents,
	     struct error *err)
{
	struct enrich_lookups *l = calloc(1, sizeof(*l));

	if (!l) {
		error_set_nomem(err);
		return NULL;
	}
	if ((!agents || add_agents(l, settings, err) == 0) &&
	    add_places(l, settings, err) == 0)
		return l;
	enrich_lookups_free(l);
	return NULL;
}

struct enrich_lookups *
enrich_lookups_new(const struct collector_settings *settings, struct error *err)
{
	return make_lookups(settings, true, err);
}

struct enrich_lookups *
enrich_lookups_new_places(const struct collector_settings *settings,
			  struct error *err)
{
	return make_lookups(settings, false, err);
}

void enrich_lookups_exchange(struct enrich_lookups *l,
			     struct enrich_lookups *fresh)
{
	struct enrich_lookups old = *l;

	if (fresh->agents) {
		*l = *fresh;
		*fresh = old;
		return;
	}
	l->places = fresh->places;
	l->ref.geo = fresh->ref.geo;
	fresh->places = old.places;
	fresh->ref.geo = old.ref.geo;
}
