/*
 * ua_rules.h - the rules of uap-core in memory: regexes.yaml, whose
 * specification is docs/specification.md of ua-parser/uap-core.
 *
 * Rules are read-only once loaded and threads may share them.
 */
#ifndef COLLECTOR_ENRICH_UA_UA_RULES_H
#define COLLECTOR_ENRICH_UA_UA_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/agent/pattern/pattern_set.h"
#include "common/error.h"

enum ua_field {
	UA_FAMILY, /* "Other" when no rule matches */
	UA_MAJOR,
	UA_MINOR,
	UA_PATCH,
	UA_PATCH_MINOR,
	UA_OS_FAMILY, /* "Other" when no rule matches */
	UA_OS_MAJOR,
	UA_OS_MINOR,
	UA_OS_PATCH,
	UA_OS_PATCH_MINOR,
	UA_DEVICE_FAMILY, /* "Other" when no rule matches; "Spider" is a robot
			   */
	UA_DEVICE_BRAND,
	UA_DEVICE_MODEL,
	UA_FIELD_COUNT
};

/* The lists of rules, each of which decides some of the fields. */
enum ua_part {
	UA_PART_AGENT,
	UA_PART_OS,
	UA_PART_DEVICE,
	UA_PART_COUNT
};

enum {
	UA_SECTION_COUNT = UA_PART_COUNT,
	UA_TEMPLATES_MAX = 5,
};

/* The name of a section of the file, and the fields that its rules fill. */
struct ua_section_form {
	const char *name;
	enum ua_field first;
	size_t count;
	const char *keys[UA_TEMPLATES_MAX];
	/* Templates for rules that have none. */
	const char *fallback[UA_TEMPLATES_MAX];
};
extern const struct ua_section_form ua_section_forms[UA_SECTION_COUNT];

/* One rule's replacements: texts with $1 to $9 in them; NULL: the fallback. */
struct ua_rule {
	char *templates[UA_TEMPLATES_MAX];
	size_t line; /* in the file */
};

/* A section's patterns are those from `first` on, as many as it has rules. */
struct ua_section {
	size_t first;
	struct ua_rule *rules;
	size_t count;
};

struct ua_rules {
	/* The patterns of all sections, in their order. */
	struct pattern_set *patterns;
	struct ua_section sections[UA_SECTION_COUNT];
};

/* A file that is missing or not in the format of regexes.yaml is ERROR_CONFIG,
 * worded "file:line: what".  `prefilter`: see pattern_set.h; false only in
 * tests. */
struct ua_rules *ua_rules_load(const char *path, bool prefilter,
			       struct error *err);
void ua_rules_free(struct ua_rules *rules); /* NULL accepted */

#endif
