/*
 * missing_keys.h - reports key versions that a space has and a program lacks.
 *
 * The program answers 503 to codes of these versions.  The gauge reports them
 * earlier: a new version enters the space's record before codes are made with
 * it.
 */
#ifndef LINKSTORE_SPACE_MISSING_KEYS_H
#define LINKSTORE_SPACE_MISSING_KEYS_H

#include <stdbool.h>

#include "common/metrics/metrics.h"
#include "linkstore/linkstore.h"

/* shortloop_space_keys_missing{space}. */
struct metric *missing_keys_register(struct metrics *m,
				     const struct link_space *space);

#define MISSING_KEYS_TEXT_MAX 160

/* Call it after each space_check.  Returns true while codes may have been
 * made with a key that the program lacks: it is not ready, and `ret_text`
 * says why. */
bool missing_keys_tell(const struct link_space *space, struct metric *gauge,
		       char ret_text[MISSING_KEYS_TEXT_MAX]);

#endif
