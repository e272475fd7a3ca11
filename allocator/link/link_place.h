/*
 * link_place.h - the domain and the space of a new link, and whether its maker
 * may use them.
 *
 * A domain is for the accounts that it names, a space for the keys and accounts
 * whose lines name it or name none (common/keys/key_access.h,
 * allocator/keys/account_rules.h).  A refusal names what was asked for and what
 * the caller may use, and nothing else: a name that there is not is answered to
 * who may not use all of them as one that is another's.
 */
#ifndef ALLOCATOR_LINK_LINK_PLACE_H
#define ALLOCATOR_LINK_LINK_PLACE_H

#include "allocator/link/link_defaults.h"
#include "common/keys/api_keyring.h"

/* Sets domain and space of a request whose other fields have been read.
 * ERROR_NOT_OWNER: the caller may not use them. */
int link_place_choose(struct link_fields *fields,
		      const struct link_defaults *defaults,
		      const struct api_key_info *caller, struct error *err);

/* May the caller change where links of that domain lead?  "" is the default
 * one; one that is not configured any more is nobody's. */
bool link_place_is_open(const struct domains *domains,
			const struct api_key_info *caller, const char *domain);

#endif
