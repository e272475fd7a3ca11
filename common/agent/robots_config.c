#include "common/agent/robots_config.h"

#define SETTING_STRUCT struct robots_config
static const struct setting settings[] = {
	SETTING_PATH(list, OPTIONAL_LIKE(DATADIR "/crawler-user-agents.json"),
		     RELOADS, "Robots by user agent: crawler-user-agents.json"),
	SETTING_PATH(
		patterns, OPTIONAL_LIKE(DATADIR "/isbot-patterns.json"),
		RELOADS,
		"Words in robots' user agents: the patterns of npm's isbot, a "
		"JSON array of texts; only collectors go by them"),
	SETTING_STRINGS(except, "AP3A\\.240617\\.008, MetaIAB Facebook",
			AT_START,
			"Entries of list and patterns, as written there, that "
			"are people: a version of Android and the browser "
			"inside Facebook's apps"),
	{0},
};

const struct setting_section robots_section = {
	.name = "robots",
	.help = "What redirectors and collectors know robots by.  The same for "
		"both.",
	.settings = settings,
};
