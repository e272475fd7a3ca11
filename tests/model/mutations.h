/*
 * mutations.h - guards taken out of the scripts, one at a time, to see that the
 * histories notice.  docs/reclaim-proof.md says which.
 */
#ifndef TESTS_MODEL_MUTATIONS_H
#define TESTS_MODEL_MUTATIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "linkstore/linkstore.h"

struct mutation {
	const char *name;
	const char *from, *to;	       /* in every script that has it */
	const char *and_from, *and_to; /* another one with it, or NULL */
	/* Not NULL: nothing can go wrong without this one alone, and why. */
	const char *covered;
};

extern const struct mutation mutations[];
extern const size_t mutation_count;

/* NULL: there is none of that name. */
const struct mutation *mutation_named(const char *name);

/* `arg`: a struct mutation, or NULL: changes nothing. */
void mutation_apply(struct linkstore *store, void *arg);

#endif
