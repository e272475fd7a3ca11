/* change_permission.h - the checks whether a change may be made, by its caller
 * and for its link. */
#ifndef ALLOCATOR_CHANGE_CHANGE_PERMISSION_H
#define ALLOCATOR_CHANGE_CHANGE_PERMISSION_H

#include "allocator/change/change.h"

/* Each returns false if the change may not be made, and has answered and freed
 * it then. */

/* Only an admin may block a link. */
bool change_may_set_state(struct change *c);
bool change_may_use_ttl(struct change *c);
bool change_may_be_made(struct change *c, const Shortloop__Link *link);
/* Is the link in the version that the order expects? */
bool change_is_expected(struct change *c, const Shortloop__Link *link);

#endif
