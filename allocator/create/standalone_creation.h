/* standalone_creation.h - shared by the strategies whose links are in no block.
 * For allocator/create/ only. */
#ifndef ALLOCATOR_CREATE_STANDALONE_CREATION_H
#define ALLOCATOR_CREATE_STANDALONE_CREATION_H

#include "allocator/create/creation.h"
#include "linkstore/standalone.h"

/* Call it when the target is chosen.  Gives the link an id of its own and calls
 * creation_code_chosen. */
void standalone_set_link_id(struct creation *c);

/* strategy.store of these strategies. */
void standalone_store(struct creation *c);

/* strategy.refused of these strategies. */
bool standalone_refused(struct creation *c, const struct error *err);

#endif
