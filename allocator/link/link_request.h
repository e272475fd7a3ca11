/* link_request.h - the request to create a link. */
#ifndef ALLOCATOR_LINK_LINK_REQUEST_H
#define ALLOCATOR_LINK_LINK_REQUEST_H

#include "allocator/link/link_defaults.h"

struct link_request {
	json_t *root;		   /* the fields point into it */
	struct link_fields fields; /* url, ttl and space are set, and the
				    * domain if there is any */
};

/*
 * Parses {"url"|"targets", "ttl"?, "space"?, "code"?, ...}; link_fields.h lists
 * the fields.  A `code` requests an alias.  ERROR_INPUT names the field and
 * what was expected.  ERROR_NOT_OWNER: the caller may not use the domain or the
 * space.  End with link_request_release, also after a failure.  Must not be
 * copied.
 */
int link_request_parse(struct link_request *request,
		       const struct link_defaults *defaults,
		       const struct api_key_info *caller,
		       struct http_slice text, struct error *err);
void link_request_release(struct link_request *request);

/* Fills in the requested link, except the values that the store decides
 * (link_id, version, class...).  The result points into the request. */
void link_request_fill(const struct link_request *request,
		       Shortloop__Link *ret_link);

#endif
