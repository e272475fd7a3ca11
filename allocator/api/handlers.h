/* handlers.h - what api.c dispatches to, and how they answer.  For
 * allocator/api/ only. */
#ifndef ALLOCATOR_API_HANDLERS_H
#define ALLOCATOR_API_HANDLERS_H

#include "allocator/api/api.h"
#include "allocator/api/link_answer.h"

void create_link(struct api_parts *api, struct http_request *req);
void read_link(struct api_parts *api, struct http_request *req,
	       struct http_slice code);

/* 503 with Retry-After. */
void reply_unavailable(struct http_request *req, const char *detail);

/* A link as JSON; `location` may be NULL. */
void reply_link(struct api_parts *api, struct http_request *req, int status,
		const char *location, const struct link_view *view);

#endif
