/* find_link.h - looks up the link that a request names, before it is read. */
#ifndef ALLOCATOR_API_FIND_LINK_H
#define ALLOCATOR_API_FIND_LINK_H

#include <stdbool.h>

#include "allocator/api/api_context.h"
#include "linkstore/block/lookup.h"

/* Looks up the link of this code in Redis and calls `fn` later.  If it cannot,
 * it answers the request and returns -1. */
int find_link(const struct api_call *call, struct link_target *ret_target,
	      link_lookup_fn *fn, void *arg);

/* Returns true, and has answered the request, if there is no link that the
 * caller may work on (404, 410, 503; allocator/link/link_finding.h). */
bool find_link_refuse(struct api_context *api, struct http_request *req,
		      const struct api_key_info *caller,
		      const struct link_answer *answer,
		      const struct error *err);

/* Answers that there is no link with this code (404), that Redis could not be
 * queried (503), and that the text is no code of a link (404), or one of a key
 * that is not configured here (503). */
void find_link_reply_unknown(struct api_context *api, struct http_request *req);
void find_link_reply_failed(struct api_context *api, struct http_request *req,
			    const struct error *err);
void find_link_reply_not_located(const struct api_call *call);

#endif
