/*
 * change_link.h - sends changes of links again when the answer to them was
 * lost.
 */
#ifndef ALLOCATOR_API_CHANGE_LINK_H
#define ALLOCATOR_API_CHANGE_LINK_H

#include "allocator/api/api_context.h"

/* `api` stays where it is until change_link_end, which is called when the loop
 * no longer runs; no change waits after that. */
int change_link_start(struct api_context *api, struct error *err);
void change_link_end(struct api_context *api);

#endif
