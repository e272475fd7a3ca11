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

/*
 * Answers when there is no link for the caller to work on (404, 410, 503); true
 * then.  A link that the caller neither reads nor changes is answered by the
 * same bytes as none.  So is, to who does not see all links, one that has
 * expired: nothing says any more whose it was.
 */
bool find_link_refuse(struct api_context *api, struct http_request *req,
		      const struct api_key_info *caller,
		      const struct link_answer *answer,
		      const struct error *err);

#endif
