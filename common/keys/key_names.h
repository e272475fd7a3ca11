/*
 * key_names.h - a list of names in the file of keys: the owners that a key may
 * write for and read, and the spaces that it may use.
 *
 * `owners=ann,bob`: names separated by commas, with %XX for a blank, a comma, a
 * '#', a '%' or any byte that is not printable ASCII.  An owner may be the
 * empty name (`owners=,ann`), which means links without an owner.
 *
 * Read-only once made: any number of threads may use it.
 */
#ifndef COMMON_KEYS_KEY_NAMES_H
#define COMMON_KEYS_KEY_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

#define KEY_LISTED_NAME_MAX 128 /* bytes of a name, like a link's owner */
#define KEY_NAMES_MAX	    256 /* names in a list */

struct key_names;

/* ERROR_INPUT: what was expected. */
struct key_names *key_names_parse(const char *text, struct error *err);
void key_names_free(struct key_names *names); /* NULL accepted */

/* Returns true if `name` ("": none) is in the list.  A NULL list contains every
 * name. */
bool key_names_have(const struct key_names *names, const char *name);

/* Returns the name after `last`, or the first if that is NULL; NULL at the
 * end. */
const char *key_names_next(const struct key_names *names, const char *last);

bool key_names_equal(const struct key_names *a, const struct key_names *b);

#endif
