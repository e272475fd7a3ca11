/*
 * space_worth.h - describes for the operator who creates a space how well its
 * codes resist guessing.
 */
#ifndef ALLOCATOR_SPACE_WORTH_H
#define ALLOCATOR_SPACE_WORTH_H

#include <stdbool.h>
#include <stdint.h>

#include "linkstore/linkstore.h"

#define SPACE_WORTH_MAX 512 /* bytes of a text, including NUL */

/* No warning is needed if fewer than one guess in this many hits a link. */
#define SPACE_WORTH_FINE 5000

/*
 * Returns N if one guess in N of an attacker hits a link while `ret_links`
 * links are live: a million, or half of what there is room for.  The attacker
 * knows how codes are made but not the keys.  Returns 0 if codes need no
 * guessing (aliases, snowflakes), or if it is not known how they are made.
 */
uint64_t space_guess_hits(const struct link_space *space, uint64_t *ret_links);

/* Returns false if there is nothing to warn of. */
bool space_worth_warn(const struct link_space *space,
		      char ret_text[SPACE_WORTH_MAX]);

#endif
