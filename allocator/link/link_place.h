/*
 * link_place.h - chooses the domain and the space of a new link, and checks
 * that the caller may use them.
 *
 * A domain is for the accounts that it names.  A space is for the keys and
 * accounts whose lines name it or name no space (common/keys/key_access.h,
 * allocator/keys/account_rules.h).  A refusal names only the requested name and
 * the names that the caller may use.  A caller that may not use all names gets
 * the same refusal for a name that does not exist and for one that belongs to
 * others.
 */
#ifndef ALLOCATOR_LINK_LINK_PLACE_H
#define ALLOCATOR_LINK_LINK_PLACE_H

#include "allocator/link/link_defaults.h"
#include "common/keys/api_keyring.h"

/* Sets domain and space of a request whose other fields have been read.
 * Returns ERROR_NOT_OWNER if the caller may not use them, or if the domain is
 * paused. */
int link_place_choose(struct link_fields *fields,
		      const struct link_defaults *defaults,
		      const struct api_key_info *caller, struct error *err);

/* Returns the domain that the fields name, or the default one, if the caller
 * may use it.  NULL: the caller may not, or the domain is paused
 * (ERROR_NOT_OWNER), or there is none. */
const struct link_domain *
link_place_find_domain(const struct link_fields *fields,
		       const struct domains *domains,
		       const struct api_key_info *caller, struct error *err);

/* Returns whether the caller may change where links of that domain lead.  "" is
 * the default domain; a domain that is no longer configured belongs to no
 * account. */
bool link_place_is_open(const struct domains *domains,
			const struct api_key_info *caller, const char *domain);

#endif
