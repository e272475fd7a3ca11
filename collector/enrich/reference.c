#include "collector/enrich/reference.h"

#include "collector/enrich/verdict_rules.h"

int reference_load_rules(struct reference *ref,
			 const struct collector_settings *settings,
			 struct error *err)
{
	const struct bots_source bots = {settings->bot_list,
					 settings->bot_patterns,
					 &settings->bot_list_except};
	uint32_t before;

	ref->sources = sources_load(settings->source_list, err);
	if (!ref->sources)
		return -1;
	ref->bots = bots_load(&bots, true, err);
	if (!ref->bots ||
	    verdict_rules_number(settings, ref->bots, &before, err) < 0)
		return -1;
	ref->ua = ua_rules_load(settings->ua_rules, true, err);
	if (!ref->ua ||
	    verdict_rules_number(settings, ref->bots, &ref->rules, err) < 0)
		return -1;
	if (ref->rules == before)
		return 0;
	return error_set(err, ERROR_CONFIG, "%s was changed while it was read",
			 settings->ua_rules);
}

int reference_load_places(struct reference *ref,
			  const struct collector_settings *settings,
			  struct error *err)
{
	ref->geo = geo_open(&settings->geo_files, settings->geo_language, err);
	return ref->geo ? 0 : -1;
}

void reference_release(struct reference *ref)
{
	ua_rules_free(ref->ua);
	bots_free(ref->bots);
	sources_free(ref->sources);
	geo_close(ref->geo);
	*ref = (struct reference){0};
}
