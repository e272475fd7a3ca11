#include "allocator/keys/link_access.h"

bool link_access_owns(struct api_keyring *ring, const char *account,
		      const Shortloop__Link *link)
{
	return api_keyring_owns(ring, account, link->account, link->creator);
}

bool link_access_may_change(struct api_keyring *ring,
			    const struct api_key_info *key,
			    const Shortloop__Link *link)
{
	if (key->roles & API_ADMIN)
		return true;
	return (key->roles & API_CREATE) &&
	       key_owners_have(key->owners, link->owner) &&
	       link_access_owns(ring, key->account, link);
}

bool link_access_may_read(struct api_keyring *ring,
			  const struct api_key_info *key,
			  const Shortloop__Link *link)
{
	if (key->roles & API_READ)
		return true;
	return (key->roles & API_READ_OWN) &&
	       link_access_owns(ring, key->account, link);
}
