/*
 * ua.h - what a user agent string says of browser, system and device, by the
 * rules of uap-core (regexes.yaml; its specification is docs/specification.md
 * of ua-parser/uap-core).
 *
 * Rules are read-only once loaded and may be shared by threads; a parser
 * belongs to one thread.
 */
#ifndef COLLECTOR_ENRICH_UA_UA_H
#define COLLECTOR_ENRICH_UA_UA_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
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

struct ua_rules;

/* A file that is missing or not of the form of regexes.yaml is ERROR_CONFIG,
 * worded "file:line: what".  `prefilter`: see pattern_set.h; true but in
 * tests. */
struct ua_rules *ua_rules_load(const char *path, bool prefilter,
			       struct error *err);
void ua_rules_free(struct ua_rules *rules); /* NULL accepted */
/* How many there are, and how many are tried on every text. */
size_t ua_rules_count(const struct ua_rules *rules);
size_t ua_rules_unfiltered(const struct ua_rules *rules);

struct ua_parser;

/* `rules` must outlive it. */
struct ua_parser *ua_parser_new(const struct ua_rules *rules,
				struct error *err);
void ua_parser_free(struct ua_parser *p); /* NULL accepted */

/* The lists of rules, each of which decides some of the fields. */
enum ua_part {
	UA_PART_AGENT,
	UA_PART_OS,
	UA_PART_DEVICE,
	UA_PART_COUNT
};

/* Start from `struct ua_result r = {0};`, end with ua_result_free; may be used
 * for many texts in turn. */
struct ua_result {
	struct buf text;
	struct {
		size_t at; /* in text */
		size_t len;
	} fields[UA_FIELD_COUNT];
	int rules[UA_PART_COUNT]; /* for ua_rule_of */
};

struct ua_text {
	const char *data; /* not NUL-terminated */
	size_t len;	  /* 0: the rules say nothing */
};

/* `text` is any bytes.  Returns -1 only when memory runs out. */
int ua_parse(struct ua_parser *p, const char *text, size_t len,
	     struct ua_result *result, struct error *err);
struct ua_text ua_get(const struct ua_result *result, enum ua_field field);
bool ua_is(const struct ua_result *result, enum ua_field field,
	   const char *value);

/* Where in the file stands the rule that decided a part. */
struct ua_rule_source {
	const char *regex;
	size_t number; /* in its list, from 1 */
	size_t line;
};

/* False: none matched.  `result` is of a parser of these rules. */
bool ua_rule_of(const struct ua_rules *rules, const struct ua_result *result,
		enum ua_part part, struct ua_rule_source *ret_source);
void ua_result_free(struct ua_result *result);

#endif
