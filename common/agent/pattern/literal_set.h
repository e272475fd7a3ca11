/*
 * literal_set.h - the strings that one piece of an expression can match:
 * algebra over sets of strings.  Internal to the analysis in literals.c.
 */
#ifndef COMMON_AGENT_PATTERN_LITERAL_SET_H
#define COMMON_AGENT_PATTERN_LITERAL_SET_H

#include <stdbool.h>

#include "common/agent/pattern/literals.h"

/*
 * If `exact`, the piece matches the strings of `set` and no others (ignoring
 * case).  Otherwise a match ends in one of `set`, if that has any, so that
 * "a.*bcd" yields "bcd" whole rather than byte by byte.
 */
struct piece {
	bool exact;
	struct literal_clause set;
	struct literals required;
};

/* The arena of the strings, and the text of common words. */
struct literal_context {
	struct arena *arena;
	const char *common;
};

/* Matches the empty string, or asserts something without consuming. */
struct piece piece_empty(const struct literal_context *ctx);
/* Matches this one byte, or its other case. */
struct piece piece_byte(unsigned char byte, const struct literal_context *ctx);
/* Matches something unknown. */
struct piece piece_unknown(void);

/* Matches one after the other. */
struct piece piece_concat(struct piece a, struct piece b,
			  const struct literal_context *ctx);
/* Matches one or the other. */
struct piece piece_either(struct piece a, struct piece b,
			  const struct literal_context *ctx);
/* Matches `a` from `min` to `max` times. */
struct piece piece_repeat(struct piece a, unsigned min, unsigned max,
			  const struct literal_context *ctx);

/* Returns all clauses of the piece: the set counts as a clause too. */
struct literals piece_required(const struct piece *p,
			       const struct literal_context *ctx);

/* Drops clauses of common words if there are others: nearly every text has
 * these words, so searching for them costs more than it saves. */
void literals_drop_common(struct literals *l,
			  const struct literal_context *ctx);

#endif
