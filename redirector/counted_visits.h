/*
 * counted_visits.h - visits of links that may be visited only so many times.
 *
 * Every one is counted in Redis before it is answered; no cache helps, and
 * while Redis cannot be asked there is no visit.  Once a link has had its
 * visits, the cache says gone for as long as the entry is fresh.
 *
 * What is no click of a person (robots.h: previews, prefetches, HEAD) uses up
 * no visit.  It is answered as a visit is, and counted by itself, since who has
 * the link could call himself a robot: beyond as many as the link has visits,
 * or uncounted_fetches if that is more, it is a 429.
 *
 * Such a link is renewed by visits that were allowed, and by no others: else
 * those that come too late would keep it, and its block, for ever.
 *
 * Belongs to its loop's thread.
 */
#ifndef REDIRECTOR_COUNTED_VISITS_H
#define REDIRECTOR_COUNTED_VISITS_H

#include "common/error.h"
#include "common/http/http_server.h"
#include "redirector/known_links.h"
#include "redirector/link_source.h"
#include "redirector/renewer.h"
#include "redirector/responder.h"
#include "redirector/robots.h"

/* What they work with; it and they outlive the connection to Redis. */
struct counted_visits {
	struct redirector *redirector;
	struct loop *loop;
	struct redis_async *redis;
	struct known_links *known;
	struct link_source *source;
	struct renewer *renewer;
	struct responder *responder;
	struct redirector_counters *counters;
	struct robots_view robots;
};

/* Counts a visit of `link`, which has max_visits, and answers it later: as the
 * link says, 410 when it has had its visits, 429 or 503.  -1: it is not
 * counted, and never answered. */
int counted_visits_begin(struct counted_visits *v, struct http_request *req,
			 struct http_slice code, const struct cached_link *link,
			 struct error *err);

/* Lets go of what its thread holds of the robots. */
void counted_visits_release(struct counted_visits *v);

#endif
