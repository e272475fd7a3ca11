/*
 * link_access.h - which links a key may read, edit and delete.
 *
 * A link carries the account that made it.  One from before there were accounts
 * has only a creator, the name of a key: it belongs to the account of the key
 * that has this name now, or, if none has, to the account of this name.
 *
 * All may be called from any thread.
 */
#ifndef ALLOCATOR_KEYS_LINK_ACCESS_H
#define ALLOCATOR_KEYS_LINK_ACCESS_H

#include "common/keys/api_keyring.h"
#include "schemas/link.pb-c.h"

/* Is the link that account's? */
bool link_access_owns(struct api_keyring *ring, const char *account,
		      const Shortloop__Link *link);

/* May it edit or delete the link?  An admin may; else whoever has `create`, is
 * of the link's account and may write for its owner. */
bool link_access_may_change(struct api_keyring *ring,
			    const struct api_key_info *key,
			    const Shortloop__Link *link);

/* May it read the link? */
bool link_access_may_read(struct api_keyring *ring,
			  const struct api_key_info *key,
			  const Shortloop__Link *link);

#endif
