/* link_whose.h - whose a link is, as common/keys/key_access.h asks. */
#ifndef ALLOCATOR_LINK_LINK_WHOSE_H
#define ALLOCATOR_LINK_LINK_WHOSE_H

#include "common/keys/key_access.h"
#include "schemas/link.pb-c.h"

/* Points into the link. */
static inline struct key_link link_whose(const Shortloop__Link *link)
{
	return (struct key_link){.account = link->account,
				 .owner = link->owner};
}

#endif
