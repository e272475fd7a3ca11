/*
 * create.h - creates one link, for a single request and for a line of a batch
 * alike (creation.h).
 */
#ifndef ALLOCATOR_CREATE_CREATE_H
#define ALLOCATOR_CREATE_CREATE_H

#include "allocator/create/creation.h"

/* Calls `done` exactly once, perhaps before it returns. */
void create_link(const struct creation_context *context,
		 const struct creation_order *order, creation_done_fn *done,
		 void *arg);

#endif
