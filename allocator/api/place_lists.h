/*
 * place_lists.h - where a key may make links, as JSON: domains and spaces.
 *
 * Nothing of a domain that is not for the caller's account is written.
 */
#ifndef ALLOCATOR_API_PLACE_LISTS_H
#define ALLOCATOR_API_PLACE_LISTS_H

#include "allocator/link/link_fields.h"
#include "common/buf.h"
#include "common/keys/api_keyring.h"

/* Appends an array of the domains that the key may use, with the spaces that it
 * may use there.  Without domains it is one without a name: that of
 * domains.base_url. */
void place_lists_put_domains(struct buf *out, const struct link_rules *rules,
			     const struct api_key_info *caller);

/* Appends an array of the spaces that the key may use. */
void place_lists_put_spaces(struct buf *out, const struct linkstore *store,
			    const struct api_key_info *caller);

/* Appends a string, or null for NULL. */
void place_lists_put_name(struct buf *out, const char *name);

#endif
