/*
 * change_link.h - what changes of links need while the API is served: to be
 * sent again when their answer was lost.
 */
#ifndef ALLOCATOR_API_CHANGE_LINK_H
#define ALLOCATOR_API_CHANGE_LINK_H

#include "allocator/api/api_context.h"

/* `api` stays where it is until change_link_end, after which no change waits
 * any more; that runs once the loop no longer does. */
int change_link_start(struct api_context *api, struct error *err);
void change_link_end(struct api_context *api);

#endif
