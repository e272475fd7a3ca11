/*
 * answers.h - the responses themselves: redirects, pages that open something,
 * and small fixed pages that repeat nothing of the request.  The responder
 * reports them (events, counters); each response writes its line to the access
 * log.
 *
 * Each function that takes a request answers it, once, and ends its strings.
 * Belongs to one thread.
 */
#ifndef REDIRECTOR_VISIT_ANSWERS_H
#define REDIRECTOR_VISIT_ANSWERS_H

#include <stdint.h>

#include "common/error.h"
#include "common/http/http_server.h"
#include "linkstore/visit/visit_device.h"
#include "redirector/lookup/link_cache.h"
#include "redirector/pages/app_file.h"
#include "redirector/redirector.h"
#include "redirector/visit/request_info.h"
#include "redirector/visit/virtual_host.h"

struct answers;

/* All arguments must outlive it. */
struct answers *answers_new(const struct redirector *r, struct loop *loop,
			    const struct request_info_rules *rules,
			    struct error *err);
void answers_free(struct answers *a); /* NULL accepted */

/* Called at the end of a turn of the loop: hands over lines of the access
 * log. */
void answers_end_turn(struct answers *a);

/* Redirects to the URL that the link has for that target, with the path and
 * query that the link passes on.  `now` is monotonic ms. */
void answer_redirect(struct answers *a, struct http_request *req,
		     const struct virtual_host *vhost,
		     const struct cached_link *link, Shortloop__Device target,
		     int64_t now);

/* 200 with the page that the link has for that target; 503 when there is no
 * memory for it. */
void answer_landing(struct answers *a, struct http_request *req,
		    const struct virtual_host *vhost,
		    const struct cached_link *link, Shortloop__Device target,
		    enum in_app in_app);

/* 302 to the fallback of the host. */
void answer_fallback(struct answers *a, struct http_request *req,
		     const struct virtual_host *vhost);

/* A robots.txt that allows everything to all robots. */
void answer_robots_txt(struct answers *a, struct http_request *req);

/* 204, which clients may cache: there is no icon. */
void answer_no_icon(struct answers *a, struct http_request *req);

/* 200 with the file, or 304 if the client has the same version. */
void answer_app_file(struct answers *a, struct http_request *req,
		     const struct app_file *file, bool same);

/* A page with a status that needs no header of its own: 403, 404, 410 or
 * 451. */
void answer_page(struct answers *a, struct http_request *req, int status);

/* 410 for a link that is paused. */
void answer_paused(struct answers *a, struct http_request *req);

/* 405. */
void answer_no_method(struct answers *a, struct http_request *req);

/* 429, with Retry-After for that time. */
void answer_limited(struct answers *a, struct http_request *req,
		    int64_t wait_ms);

/* 429 for a fetch of a link that keeps its visits for people. */
void answer_over_fetches(struct answers *a, struct http_request *req);

/* 503, with Retry-After: retry_after. */
void answer_unavailable(struct answers *a, struct http_request *req);

#endif
