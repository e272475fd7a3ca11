/* enricher_settings.h - the settings of a small enricher. */
#ifndef TESTS_UNIT_COLLECTOR_ENRICHER_SETTINGS_H
#define TESTS_UNIT_COLLECTOR_ENRICHER_SETTINGS_H

#include "tests/unit/unit.h"

#include "collector/collector_config.h"

/* Writes rules of user agents to a file named `rules`; the caller removes it.
 */
static inline struct collector_settings enricher_settings(char rules[64])
{
	static char english[] = "en", sha1[] = "sha1", whole[] = "whole";
	static const char text[] =
		"user_agent_parsers:\n  - regex: '(Alpha)/(\\d+)'\n"
		"os_parsers:\n  - regex: '(Windows)'\n"
		"device_parsers:\n  - regex: 'Phone'\n";

	return (struct collector_settings){
		.epoch = 1,
		.clicks = {.late_window = INT64_C(86400000)},
		.ua_rules = unit_write_file(text, rules),
		.geo_language = english,
		.visitor_identity = sha1,
		.store_ip = whole,
		.ua_cache = 1 << 20,
		.geo_cache = 1 << 20,
		.max_text = 256,
	};
}

#endif
