/*
 * space_worth.h - what the codes of a space are worth against guessing, in
 * words, for who is about to create it.
 */
#ifndef ALLOCATOR_SPACE_WORTH_H
#define ALLOCATOR_SPACE_WORTH_H

#include <stdbool.h>
#include <stdint.h>

#include "linkstore/linkstore.h"

#define SPACE_WORTH_MAX 512 /* bytes of a text with its NUL */

/* With less than one guess in so many that hits, nobody needs a warning. */
#define SPACE_WORTH_FINE 5000

/*
 * One guess of a stranger in so many hits a link when `ret_links` are live: a
 * million, or half of what there is room for.  The stranger knows how codes are
 * made but not the keys.  0: codes are not guessed (aliases, snowflakes), or
 * how they are made is not known.
 */
uint64_t space_guess_hits(const struct link_space *space, uint64_t *ret_links);

/* False: there is nothing to warn of. */
bool space_worth_warn(const struct link_space *space,
		      char ret_text[SPACE_WORTH_MAX]);

#endif
