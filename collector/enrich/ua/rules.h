/* rules.h - regexes.yaml in memory.  Internal to collector/ua. */
#ifndef COLLECTOR_ENRICH_UA_RULES_H
#define COLLECTOR_ENRICH_UA_RULES_H

#include "collector/enrich/pattern/pattern_set.h"
#include "collector/enrich/ua/ua.h"

enum {
	UA_SECTION_COUNT = UA_PART_COUNT,
	UA_TEMPLATES_MAX = 5,
};

/* What a section of the file is called and which fields its rules fill. */
struct ua_section_form {
	const char *name;
	enum ua_field first;
	size_t count;
	const char *keys[UA_TEMPLATES_MAX];
	/* What a rule means that does not say. */
	const char *fallback[UA_TEMPLATES_MAX];
};
extern const struct ua_section_form ua_section_forms[UA_SECTION_COUNT];

/* One rule's replacements: texts with $1 to $9 in them; NULL: the fallback. */
struct ua_rule {
	char *templates[UA_TEMPLATES_MAX];
	size_t line; /* of the file */
};

/* A section's patterns are those from `first` on, as many as it has rules. */
struct ua_section {
	size_t first;
	struct ua_rule *rules;
	size_t count;
};

struct ua_rules {
	struct pattern_set *patterns; /* of all sections, one after another */
	struct ua_section sections[UA_SECTION_COUNT];
};

#endif
