#include "linkstore/quarantine.h"

#include <stddef.h>

#define SETTING_STRUCT struct quarantine_bounds
static const struct setting redirector_settings[] = {
	SETTING_CACHE_TTL,
	SETTING_CACHE_NEGATIVE_TTL,
	SETTING_CACHE_STALE,
	SETTING_PERMANENT_MAX_AGE,
	{0},
};

static const struct setting collector_settings[] = {
	SETTING_MAX_LAG,
	{0},
};

const struct setting_section quarantine_redirector_section = {
	.name = "redirector",
	.help = "What remembers a link.",
	.settings = redirector_settings,
};
const struct setting_section quarantine_collector_section = {
	.name = "collector",
	.help = "What is still to be counted.",
	.settings = collector_settings,
};

static int check_bound(int64_t quarantine, const char *name, int64_t bound,
		       const char *why, struct error *err)
{
	char has[DURATION_TEXT_MAX], least[DURATION_TEXT_MAX];

	if (quarantine > bound)
		return 0;
	return error_set(err, ERROR_CONFIG,
			 "links.quarantine (%s) must be longer than %s (%s): "
			 "%s",
			 duration_format(quarantine, has), name,
			 duration_format(bound, least), why);
}

int quarantine_check(int64_t quarantine, const struct quarantine_bounds *bounds,
		     struct error *err)
{
	static const char cached[] =
		"a redirector may remember the code's former owner so long";

	if (check_bound(quarantine, "redirector.cache_ttl", bounds->cache_ttl,
			cached, err) ||
	    check_bound(quarantine, "redirector.cache_negative_ttl",
			bounds->cache_negative_ttl,
			"a redirector may remember so long that the code has "
			"no link",
			err) ||
	    check_bound(quarantine, "redirector.cache_stale",
			bounds->cache_stale, cached, err) ||
	    check_bound(quarantine, "redirector.permanent_max_age",
			bounds->permanent_max_age,
			"a browser may follow the code's former owner so long",
			err) ||
	    check_bound(quarantine, "collector.max_lag", bounds->max_lag,
			"clicks of the code's former owner may be under way "
			"so long",
			err))
		return -1;
	return 0;
}
