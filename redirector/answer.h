/*
 * answer.h - the responses a visitor can get.
 *
 * Pages are small, fixed and repeat nothing of the request.
 */
#ifndef REDIRECTOR_ANSWER_H
#define REDIRECTOR_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/http/http_server.h"
#include "redirector/link_cache.h"

/* What of a redirect does not depend on where it leads. */
struct answer_form {
	int status;   /* 302, 301, 307, 308 */
	bool varies;  /* with the device */
	bool counted; /* visits are numbered: no answer may be kept */
};

/*
 * Appends the header lines of a redirect, to be kept with the link.  Those of a
 * permanent one (301, 308) lack its caching, which depends on the time left.
 * Returns -1 with ERROR_PROTOCOL when the URL is empty or has a character that
 * would end its line.
 */
int answer_lines(struct buf *out, const struct answer_form *form,
		 const char *url, struct error *err);

/*
 * A browser may keep a permanent redirect for at most `max_age` ms and never
 * beyond the link's end; the others are asked for every time, since a visit
 * that is not seen is not counted.  `now` is monotonic ms.  `scratch` is used
 * for what is put together, and keeps its memory.
 */
void answer_redirect(struct http_request *req, const struct cached_link *link,
		     Shortloop__Device device, int64_t max_age, int64_t now,
		     struct buf *scratch);

/* A 302 to a URL that is not a link. */
void answer_fallback(struct http_request *req, const char *url);

void answer_not_found(struct http_request *req);
void answer_gone(struct http_request *req);
void answer_blocked(struct http_request *req);
void answer_no_method(struct http_request *req);
/* `retry_after`: seconds, as text. */
void answer_unavailable(struct http_request *req, const char *retry_after);

#endif
