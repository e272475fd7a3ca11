/* api_reply.h - answers that several handlers share. */
#ifndef ALLOCATOR_API_API_REPLY_H
#define ALLOCATOR_API_API_REPLY_H

#include <stdbool.h>

#include "allocator/api/api_context.h"
#include "allocator/batch/batch.h"
#include "allocator/link/link_view.h"
#include "common/error.h"
#include "common/field_mistakes.h"
#include "common/http/http_server.h"

/* Answers 503 for an error.  Details that are not for clients are logged
 * instead. */
void api_reply_failure(const struct api_context *api, struct http_request *req,
		       const struct error *err);

/* Answers 400 or 403 for a body that was refused, with all its mistakes.
 * `within`: see field_mistakes_format. */
void api_reply_mistakes(struct http_request *req, const struct error *err,
			const struct field_mistakes *mistakes,
			const char *within);

/* The same for a line of a batch. */
void api_refuse_line(struct running_batch *b, const struct error *err,
		     const struct field_mistakes *mistakes, const char *within);

/* Answers with a link as JSON; `location` may be NULL. */
void api_reply_link(struct api_context *api, struct http_request *req,
		    int status, const char *location, bool replayed,
		    const struct link_view *view);

#endif
