/* link_whose.h - the account and owner of a link, for
 * common/keys/key_access.h. */
#ifndef ALLOCATOR_LINK_LINK_WHOSE_H
#define ALLOCATOR_LINK_LINK_WHOSE_H

#include "common/keys/key_access.h"
#include "schemas/link.pb-c.h"

/* The result points into the link. */
static inline struct key_link link_whose(const Shortloop__Link *link)
{
	return (struct key_link){.account = link->account,
				 .owner = link->owner};
}

#endif
