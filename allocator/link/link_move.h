/*
 * link_move.h - gives a link to another owner, account or domain.
 *
 * The caller has to have both: the link as it is, which the caller of this
 * function has checked, and what it becomes.  Only an admin gives a link to
 * another account (common/keys/key_access.h).  A link's domain is one that its
 * account may use, so a link that changes its account may need another domain.
 */
#ifndef ALLOCATOR_LINK_LINK_MOVE_H
#define ALLOCATOR_LINK_LINK_MOVE_H

#include "allocator/link/link_patch.h"
#include "common/error.h"
#include "common/keys/api_keyring.h"
#include "linkstore/linkstore.h"
#include "schemas/link.pb-c.h"

/* The fields of a patch that link_move applies. */
#define LINK_MOVE_FIELDS (FIELD_ACCOUNT | FIELD_OWNER | FIELD_DOMAIN)

struct link_move {
	const struct link_fields *fields;
	const struct link_rules *rules;
	const struct api_key_info *caller;
	const struct link_space *space; /* the link's */
};

/* Sets account, owner and domain of `after`, a copy of `before`; the texts are
 * those of the fields and of the domains.  ERROR_NOT_OWNER: the caller may not
 * do that; ERROR_INPUT: nobody may. */
int link_move_apply(const struct link_move *move, const Shortloop__Link *before,
		    Shortloop__Link *after, struct error *err);

#endif
