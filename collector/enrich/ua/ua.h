/*
 * ua.h - finds browser, system and device of a user agent by the rules of
 * uap-core (regexes.yaml: ua_rules.h).
 *
 * A parser belongs to one thread.
 */
#ifndef COLLECTOR_ENRICH_UA_UA_H
#define COLLECTOR_ENRICH_UA_UA_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/enrich/ua/ua_rules.h"
#include "common/buf.h"
#include "common/error.h"

struct ua_parser;

/* `rules` must outlive it. */
struct ua_parser *ua_parser_new(const struct ua_rules *rules,
				struct error *err);
void ua_parser_free(struct ua_parser *p); /* NULL accepted */

/* Start from `struct ua_result r = {0};`, end with ua_result_free; it may be
 * used for many texts in turn. */
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
	size_t len;	  /* 0: no rule sets it */
};

/* `text` may be any bytes.  Returns -1 only when memory runs out. */
int ua_parse(struct ua_parser *p, const char *text, size_t len,
	     struct ua_result *result, struct error *err);
struct ua_text ua_get(const struct ua_result *result, enum ua_field field);
bool ua_is(const struct ua_result *result, enum ua_field field,
	   const char *value);

/* Replaces a field by a better value than the rules'; `text` must not point
 * into *result.  -1: out of memory. */
int ua_set(struct ua_result *result, enum ua_field field, const char *text,
	   size_t len, struct error *err);

/* The place in the file of the rule that decided a part. */
struct ua_rule_source {
	const char *regex;
	size_t number; /* in its list, from 1 */
	size_t line;
};

/* Returns false if no rule matched.  `result` must come from a parser of these
 * rules. */
bool ua_rule_of(const struct ua_rules *rules, const struct ua_result *result,
		enum ua_part part, struct ua_rule_source *ret_source);
void ua_result_free(struct ua_result *result);

#endif
