/*
 * structure.h - what the form of a user agent says of who sent it, where no
 * name is known.
 *
 * All of it is of PCRE2, matched in either case, and part of verdict_version.
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

/* Robots by what they say of themselves beside their name. */
extern const struct structure_rule structure_rules[];
extern const size_t structure_rule_count;

/* The forms that browsers have, so that words in them which are vague count for
 * nothing. */
extern const char *const browser_forms[];
extern const size_t browser_form_count;

/*
 * Patterns of the lists, as they are written there, that are vague: they are
 * not believed of an agent that has a browser's form or names a device.
 */
extern const char *const vague_patterns[];
extern const size_t vague_pattern_count;

#endif
