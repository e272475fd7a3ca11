/* link_request.h - the body of POST /v1/links, read and checked. */
#ifndef ALLOCATOR_API_LINK_REQUEST_H
#define ALLOCATOR_API_LINK_REQUEST_H

#include <jansson.h>
#include <stddef.h>

#include "common/error.h"
#include "common/http/http_server.h"
#include "linkstore/linkstore.h"

#define LINK_TEXT_MAX 128 /* bytes of owner, campaign or a tag */
#define LINK_TAGS_MAX 32

/* What a request leaves open. */
struct link_defaults {
	const struct linkstore *store;
	const struct link_space *space;
	const struct link_class *ttl; /* NULL: the request must say */
};

struct link_request {
	json_t *root; /* the strings below point into it */
	const char *url;
	const struct link_space *space;
	const struct link_class *ttl;
	const char *owner;	   /* "" when not given */
	const char *campaign;	   /* "" when not given */
	char *tags[LINK_TAGS_MAX]; /* only read */
	size_t tag_count;
};

/*
 * {"url", "ttl"?, "space"?, "owner"?, "campaign"?, "tags"?}.  ERROR_INPUT names
 * the field and says what was expected of it.  End with link_request_release,
 * also after a failure.
 */
int link_request_parse(struct link_request *request,
		       const struct link_defaults *defaults,
		       struct http_slice body, struct error *err);
void link_request_release(struct link_request *request);

#endif
