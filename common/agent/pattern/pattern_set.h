/*
 * pattern_set.h - ordered lists of regular expressions: finds the first that
 * matches a text.  One set can hold several lists, one after the other, and
 * still reads the text once.
 *
 * PCRE2 decides.  Before it runs, one pass over the text finds which
 * expressions have all the strings that a match must contain (literals.h), so
 * that a thousand expressions cost a handful of matches.  The result is the
 * same as trying each in turn.
 *
 * Expressions and texts are bytes; the case-insensitive ones fold ASCII.  A set
 * is read-only once compiled and may be used from many threads, each with a
 * matcher of its own.
 */
#ifndef COMMON_AGENT_PATTERN_PATTERN_SET_H
#define COMMON_AGENT_PATTERN_PATTERN_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

struct pattern_set;

/* `jit` false: PCRE2 interprets the patterns, which is slower, for programs
 * that must not make memory executable.  The results are the same. */
struct pattern_set *pattern_set_new(bool jit, struct error *err);
void pattern_set_free(struct pattern_set *set); /* NULL accepted */

/* Adds an expression after those already there.  One that PCRE2 refuses is
 * ERROR_INPUT, with PCRE2's reason. */
int pattern_set_add(struct pattern_set *set, const char *regex, bool caseless,
		    struct error *err);

/* Call once, after the last add.  Without `prefilter` every expression is tried
 * in turn: the reference that the prefilter is compared with. */
int pattern_set_compile(struct pattern_set *set, bool prefilter,
			struct error *err);

size_t pattern_set_count(const struct pattern_set *set);

/* Returns the expression as it was added. */
const char *pattern_set_regex(const struct pattern_set *set, size_t index);

struct pattern_matcher;

/* `set` must outlive the matcher. */
struct pattern_matcher *pattern_matcher_new(const struct pattern_set *set,
					    struct error *err);
void pattern_matcher_free(struct pattern_matcher *m); /* NULL accepted */

/*
 * Reads the text once, to find which expressions can match it at all.  The text
 * must stay in place during the two calls below.
 */
void pattern_scan(struct pattern_matcher *m, const char *text, size_t len);

/*
 * Returns the index of the first expression from `from` to before `to` that
 * matches the scanned text, or -1.  An expression that reaches PCRE2's limits
 * (a text made to be slow) counts as not matching.
 */
int pattern_first(struct pattern_matcher *m, size_t from, size_t to);

/* Returns group `n` of the last match; {NULL, 0} if it took no part. */
struct pattern_group {
	const char *text;
	size_t len;
};
struct pattern_group pattern_group(const struct pattern_matcher *m, size_t n);

#endif
