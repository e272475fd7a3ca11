/*
 * structure.h - recognizes a robot by the form of its user agent, if its name
 * is not known.
 *
 * All expressions are PCRE2's, case-insensitive, and part of verdict_version.
 */
#ifndef COMMON_AGENT_STRUCTURE_H
#define COMMON_AGENT_STRUCTURE_H

#include <stddef.h>

#include "common/agent/bots.h"

struct structure_rule {
	const char *regex;
	const char *reason; /* for the column verdict_reason */
	enum bot_kind kind; /* BOT_TOOL or BOT_CRAWLER */
};

/* Rules for what robots write about themselves beside their name. */
extern const struct structure_rule structure_rules[];
extern const size_t structure_rule_count;

/* The forms of browsers' agents; vague words in such an agent are ignored. */
extern const char *const browser_forms[];
extern const size_t browser_form_count;

/*
 * Patterns of the lists, as they are written there, that are vague: they are
 * ignored in an agent that has a browser's form or names a device.
 */
extern const char *const vague_patterns[];
extern const size_t vague_pattern_count;

#endif
