/* plain.h - what the strategies without blocks share.  For allocator/create/
 * only. */
#ifndef ALLOCATOR_CREATE_PLAIN_H
#define ALLOCATOR_CREATE_PLAIN_H

#include "allocator/create/creation.h"
#include "linkstore/plain/create.h"

/* Gives the link an id of its own and names the creation; its target is
 * chosen. */
void plain_name(struct creation *c);

/* create_strategy.store of all of them. */
void plain_store(struct creation *c);

/* create_strategy.refused of all of them. */
bool plain_refused(struct creation *c, const struct error *err);

#endif
