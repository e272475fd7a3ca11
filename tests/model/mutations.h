/*
 * mutations.h - removes one guard at a time from the scripts, to show that the
 * histories notice it.  docs/reclaim-proof.md lists them.
 */
#ifndef TESTS_MODEL_MUTATIONS_H
#define TESTS_MODEL_MUTATIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "linkstore/linkstore.h"

struct mutation {
	const char *name;
	const char *from,
		*to; /* replaced in every script that contains `from` */
	const char *and_from, *and_to; /* a second replacement, or NULL */
	/* Not NULL: another guard covers this one, and this is why nothing goes
	 * wrong. */
	const char *covered;
};

extern const struct mutation mutations[];
extern const size_t mutation_count;

/* Returns NULL if there is no mutation of that name. */
const struct mutation *mutation_named(const char *name);

/* `arg`: a struct mutation, or NULL, which changes nothing. */
void mutation_apply(struct linkstore *store, void *arg);

#endif
