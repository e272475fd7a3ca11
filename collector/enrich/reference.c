#include "collector/enrich/reference.h"

#include "collector/enrich/verdict_rules.h"

int reference_load(struct reference *ref,
		   const struct collector_settings *settings, struct error *err)
{
	struct reference loaded = {0};
	const struct bots_source bots = {settings->bot_list,
					 &settings->bot_list_except};
	uint32_t before;

	loaded.bots = bots_load(&bots, true, err);
	if (!loaded.bots ||
	    verdict_rules_number(settings, loaded.bots, &before, err) < 0)
		goto fail;
	loaded.ua = ua_rules_load(settings->ua_rules, true, err);
	if (!loaded.ua ||
	    verdict_rules_number(settings, loaded.bots, &loaded.rules, err) < 0)
		goto fail;
	if (loaded.rules != before) {
		error_set(err, ERROR_CONFIG, "%s was changed while it was read",
			  settings->ua_rules);
		goto fail;
	}
	loaded.geo =
		geo_open(&settings->geo_files, settings->geo_language, err);
	if (!loaded.geo)
		goto fail;
	*ref = loaded;
	return 0;
fail:
	reference_release(&loaded);
	return -1;
}

void reference_release(struct reference *ref)
{
	ua_rules_free(ref->ua);
	bots_free(ref->bots);
	geo_close(ref->geo);
	*ref = (struct reference){0};
}
