/*
 * automaton.h - finds which of many strings occur in a text, in one pass.
 *
 * Aho and Corasick, "Efficient string matching: an aid to bibliographic
 * search", CACM 18(6), 1975, with the failure links folded into a complete
 * table over classes of bytes.  ASCII letters match in either case.
 */
#ifndef COMMON_AGENT_PATTERN_AUTOMATON_H
#define COMMON_AGENT_PATTERN_AUTOMATON_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct automaton;

struct automaton_word {
	const char *text; /* lower case; not empty */
	size_t len;
	uint32_t value; /* reported when it is found */
};

/* Words may repeat, with different values.  They are not kept. */
struct automaton *automaton_new(const struct automaton_word *words,
				size_t count, struct error *err);
void automaton_free(struct automaton *a); /* NULL accepted */

/*
 * Calls found(arg, values, n) with the values of a word each time that word
 * ends somewhere in the text.  Thread-safe.
 */
typedef void automaton_found_fn(void *arg, const uint32_t *values,
				size_t count);
void automaton_scan(const struct automaton *a, const char *text, size_t len,
		    automaton_found_fn *found, void *arg);

#endif
