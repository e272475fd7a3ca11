#include "collector/enrich/reference.h"

int reference_load(struct reference *ref,
		   const struct collector_settings *settings, struct error *err)
{
	struct reference loaded = {0};

	loaded.ua = ua_rules_load(settings->ua_rules, true, err);
	if (!loaded.ua)
		goto fail;
	if (settings->bot_list) {
		loaded.bots = bots_load(settings->bot_list, true, err);
		if (!loaded.bots)
			goto fail;
	}
	loaded.geo = geo_open(&settings->geo_files, err);
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
