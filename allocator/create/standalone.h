/* standalone.h - what the strategies share whose links belong to no block.  For
 * allocator/create/ only. */
#ifndef ALLOCATOR_CREATE_STANDALONE_H
#define ALLOCATOR_CREATE_STANDALONE_H

#include "allocator/create/creation.h"
#include "linkstore/standalone.h"

/* The target is chosen: gives the link an id of its own and goes on with
 * creation_code_chosen. */
void standalone_set_link_id(struct creation *c);

/* strategy.store of all of them. */
void standalone_store(struct creation *c);

/* strategy.refused of all of them. */
bool standalone_refused(struct creation *c, const struct error *err);

#endif
