/*
 * key_owners.h - the owners that a key may write for, and whose statistics it
 * may read.
 *
 * In the file of keys `owners=ann,bob`: names as a link's `owner` has them,
 * separated by commas, with %XX for a blank, a comma, a '#', a '%' or any byte
 * that is no printable ASCII.  An empty name (`owners=,ann`) stands for links
 * without an owner.
 *
 * Read-only once made: any number of threads may use it.
 */
#ifndef COMMON_KEYS_KEY_OWNERS_H
#define COMMON_KEYS_KEY_OWNERS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

#define KEY_OWNER_MAX  128 /* bytes of a name, as of a link's owner */
#define KEY_OWNERS_MAX 256 /* names of a key */

struct key_owners;

/* ERROR_INPUT: what was expected. */
struct key_owners *key_owners_parse(const char *text, struct error *err);
void key_owners_free(struct key_owners *owners); /* NULL accepted */

/* Is `owner` ("": none) one of them?  NULL knows every owner. */
bool key_owners_have(const struct key_owners *owners, const char *owner);

/* The name behind `last`, or the first when that is NULL; NULL at the end. */
const char *key_owners_next(const struct key_owners *owners, const char *last);

bool key_owners_equal(const struct key_owners *a, const struct key_owners *b);

#endif
