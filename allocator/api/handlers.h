/* handlers.h - what api.c dispatches to, and how they answer.  For
 * allocator/api/ only. */
#ifndef ALLOCATOR_API_HANDLERS_H
#define ALLOCATOR_API_HANDLERS_H

#include "allocator/api/api.h"
#include "allocator/link/link_view.h"
#include "linkstore/block/lookup.h"
#include "linkstore/target.h"

/* A request on its way to its handler.  `caller` is valid during the call. */
struct api_call {
	struct api_parts *api;
	struct http_request *req;
	const struct api_key_info *caller;
	struct http_slice name; /* what {} stands for in the route */
};

typedef void api_handler(const struct api_call *call);
api_handler handle_create, handle_read, handle_patch, handle_delete, handle_qr,
	handle_spaces, handle_space, handle_openapi;

/* Looks the link with the code up in Redis; `fn` is called later.  Answers and
 * returns -1 when that cannot be. */
int api_find_link(const struct api_call *call, struct link_target *ret_target,
		  link_lookup_fn *fn, void *arg);
/* Answers when there is no link to work on (404, 410, 503); true then. */
bool api_refuse_missing(struct api_parts *api, struct http_request *req,
			const struct link_answer *answer,
			const struct error *err);

/* Answers 403 when the caller may not read the link; true then. */
bool api_refuse_foreign(struct api_parts *api, struct http_request *req,
			const struct api_key_info *caller,
			const Shortloop__Link *link);

/* 503 with Retry-After. */
void reply_unavailable(struct http_request *req, const char *detail);
/* The same for an error; what strangers should not read of it is logged. */
void api_reply_failure(const struct api_parts *api, struct http_request *req,
		       const struct error *err);

/* A link as JSON; `location` may be NULL. */
void reply_link(struct api_parts *api, struct http_request *req, int status,
		const char *location, bool replayed,
		const struct link_view *view);

#endif
