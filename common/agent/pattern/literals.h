/*
 * literals.h - finds the plain strings that every match of a regular expression
 * contains.
 *
 * The result is a conjunction of clauses; a clause is a list of strings of
 * which at least one occurs in any text that matches.  It is sound rather than
 * complete: syntax that the analysis does not know yields no clause, and an
 * expression without clauses has to be tried on every text.
 *
 * Strings are in lower case: search for them in a lower-cased text (ASCII).
 *
 * The method is that of Code Search (Russ Cox, "Regular Expression Matching
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
 * `common`: text in lower case whose words occur in most of the texts to be
 * searched; a clause of other words is preferred.
 *
 * Analyses a PCRE2 expression that is known to compile (no extended mode, bytes
 * rather than UTF).  Results live in the arena.  Out of memory sets
 * arena->failed.
 */
struct literals literals_required(const char *regex, const char *common,
				  struct arena *arena);

#endif
