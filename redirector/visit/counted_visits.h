/*
 * counted_visits.h - visits of links that may be visited only a limited number
 * of times.
 *
 * Every visit is counted in Redis before it is answered; no cache helps, and
 * while Redis cannot be queried there is no visit.  Once a link has had its
 * visits, the cache answers "gone" for as long as the entry is fresh.
 *
 * A request that is no click of a person (robots.h: previews, prefetches, HEAD)
 * uses up no visit.  It is answered like a visit, and counted separately, since
 * a person who has the link could claim to be a robot: after as many of them as
 * the link has visits, or uncounted_fetches if that is more, the answer is a
 * 429.
 *
 * Only visits that were allowed renew such a link: otherwise visits that come
 * too late would keep it, and its block, for ever.
 *
 * Belongs to its loop's thread.
 */
#ifndef REDIRECTOR_VISIT_COUNTED_VISITS_H
#define REDIRECTOR_VISIT_COUNTED_VISITS_H

#include "common/error.h"
#include "common/http/http_server.h"
#include "redirector/lookup/link_source.h"
#include "redirector/visit/denied_links.h"
#include "redirector/visit/known_links.h"
#include "redirector/visit/renewer.h"
#include "redirector/visit/responder.h"
#include "redirector/visit/robots.h"

/* The parts that counting works with; all of them must outlive the connection
 * to Redis. */
struct counted_visits {
	struct redirector *redirector;
	struct loop *loop;
	struct redis_async *redis;
	struct known_links *known;
	struct denied_links *denied;
	struct link_source *source;
	struct renewer *renewer;
	struct responder *responder;
	struct redirector_counters *counters;
	struct robots_view robots;
};

/* Counts a visit of `link`, which has max_visits, and answers it later: as the
 * link says, 410 when it has had its visits, 429 or 503.  Returns -1 if the
 * visit is not counted; then it is never answered here. */
int counted_visits_begin(struct counted_visits *v, struct http_request *req,
			 struct http_slice code, const struct cached_link *link,
			 struct error *err);

/* Releases the thread's view of the robots. */
void counted_visits_release(struct counted_visits *v);

#endif
