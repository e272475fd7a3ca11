/*
 * literals.h - which plain strings a regular expression cannot match without.
 *
 * The answer is a conjunction of clauses; a clause is a list of strings of
 * which at least one occurs in any text that matches.  It is sound rather than
 * complete: what the analysis does not understand yields no clause, and an
 * expression without clauses has to be tried on every text.
 *
 * Strings are in lower case: look for them in a lower-cased text (ASCII).
 *
 * The method is the one of Code Search (Russ Cox, "Regular Expression Matching
 * with a Trigram Index", 2012), with literals in place of trigrams.
 */
#ifndef COMMON_AGENT_PATTERN_LITERALS_H
#define COMMON_AGENT_PATTERN_LITERALS_H

#include <stddef.h>

#include "common/arena.h"

struct literal {
	const char *text;
	size_t len;
};

struct literal_clause {
	struct literal *items;
	size_t count;
};

enum {
	LITERALS_CLAUSES_MAX = 4
};

struct literals {
	struct literal_clause clauses[LITERALS_CLAUSES_MAX];
	size_t count;
};

/*
 * `common`: text in lower case, the words of which are in most of the texts to
 * be searched; a clause of other words is preferred.
 *
 * Analyses a PCRE2 expression that is known to compile (no extended mode, bytes
 * rather than UTF).  Results live in the arena.  Running out of memory leaves
 * arena->failed set.
 */
struct literals literals_required(const char *regex, const char *common,
				  struct arena *arena);

#endif
