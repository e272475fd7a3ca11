/* find_link.h - the look-up of the link that a request names, before it is read
 * or changed. */
#ifndef ALLOCATOR_API_FIND_LINK_H
#define ALLOCATOR_API_FIND_LINK_H

#include <stdbool.h>

#include "allocator/api/api_context.h"
#include "linkstore/block/lookup.h"

/* Looks the link with the code up in Redis; `fn` is called later.  Answers and
 * returns -1 when that cannot be. */
int find_link(const struct api_call *call, struct link_target *ret_target,
	      link_lookup_fn *fn, void *arg);

/* Answers when there is no link to work on (404, 410, 503); true then. */
bool find_link_refuse_missing(struct api_context *api, struct http_request *req,
			      const struct link_answer *answer,
			      const struct error *err);

/* Answers 403 when the caller may not read the link; true then. */
bool find_link_refuse_foreign(struct api_context *api, struct http_request *req,
			      const struct api_key_info *caller,
			      const Shortloop__Link *link);

#endif
