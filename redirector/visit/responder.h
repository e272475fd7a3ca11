/*
 * responder.h - answers a request (answers.h), with its counter and its click
 * event.
 *
 * Belongs to one thread.  Each responder_send function answers the request,
 * once; its comment says whether an event is sent.  An event that no queue has
 * room for is counted as dropped, and the visitor is served all the same.
 */
#ifndef REDIRECTOR_VISIT_RESPONDER_H
#define REDIRECTOR_VISIT_RESPONDER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/http/http_server.h"
#include "common/ip.h"
#include "redirector/events/click_event.h"
#include "redirector/lookup/link_cache.h"
#include "redirector/redirector.h"
#include "redirector/redirector_metrics.h"
#include "redirector/visit/virtual_host.h"

struct responder;

/* All arguments must outlive the responder.  `loop` belongs to the thread with
 * that number. */
struct responder *responder_new(const struct redirector *r, unsigned thread,
				struct loop *loop,
				struct redirector_counters *counters,
				struct error *err);
void responder_free(struct responder *r); /* NULL accepted */

/* Called at the end of a turn: hands over lines of the access log. */
void responder_end_turn(struct responder *r);

/* Sets the virtual hosts that it answers for; called before the first
 * answer. */
void responder_use_hosts(struct responder *r,
			 const struct virtual_hosts *hosts);

/* Returns the client of the request, as in events. */
struct address responder_client(const struct responder *r,
				const struct http_request *req);

/* Fills the fields that an event takes from the request; the others are
 * zeroed. */
void responder_read_click(const struct responder *r,
			  const struct http_request *req,
			  struct click *ret_click);

/*
 * Sends a redirect or a page, as the link says, if the link is shown under the
 * request's Host; an event.  A path behind the code is passed on by a link that
 * does so, or ignored (trim_paths), or else gives a 404 without an event.
 * `now` is monotonic ms.  Returns false, with nothing answered, when the visits
 * of the link are limited: the caller then has to count the visit and call
 * responder_send_counted.
 */
bool responder_send_link(struct responder *r, struct http_request *req,
			 struct http_slice code, const struct cached_link *link,
			 int64_t now);

/* Answers a visit that was counted, as the link says; the outcome of `link` is
 * LINK_OUTCOME_GONE if there was no visit left; an event. */
void responder_send_counted(struct responder *r, struct http_request *req,
			    const struct cached_link *link, int64_t now);

/* 404, or the fallback, for a code that no link can have; an event without a
 * link, unless the path goes on behind the code. */
void responder_send_unknown(struct responder *r, struct http_request *req,
			    struct http_slice code);

/* 404 for a Host of no domain; no event, since no link was visited. */
void responder_send_refused_host(struct responder *r, struct http_request *req);

/* Sends the file of the Host's domain that the path is for (app_file.h); no
 * event.  Returns false, with nothing answered, when there is none. */
bool responder_send_app_file(struct responder *r, struct http_request *req);

/* Answers paths that no code can have, for each host: /robots.txt and
 * /favicon.ico; no event.  Returns false, with nothing answered, for other
 * paths. */
bool responder_send_own_path(struct responder *r, struct http_request *req);

/* The fallback for `/`, or 404; no event, since no code was visited. */
void responder_send_no_code(struct responder *r, struct http_request *req);

/* 405; no event. */
void responder_send_no_method(struct responder *r, struct http_request *req);

/* 403: the client's network is denied; no event. */
void responder_send_denied(struct responder *r, struct http_request *req);

/* 429 with Retry-After; no event.  `why` is COUNTER_OVER_RATE or
 * COUNTER_OVER_UNKNOWN. */
void responder_send_limited(struct responder *r, struct http_request *req,
			    enum redirector_counter why, int64_t wait_ms);

/* 429 for a fetch that uses up no visit, if the link had too many of these; no
 * event. */
void responder_send_over_fetches(struct responder *r, struct http_request *req);

/* 503: there may be a link, but it cannot be looked up now; no event.  `why` is
 * COUNTER_UNAVAILABLE, COUNTER_UNAVAILABLE_LATE or
 * COUNTER_UNAVAILABLE_BREAKER. */
void responder_send_unavailable(struct responder *r, struct http_request *req,
				enum redirector_counter why);

#endif
