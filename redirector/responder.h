/*
 * responder.h - answers a request (answers.h), with its counter and its click
 * event.
 *
 * Belongs to one
 * thread.  Each responder_send function answers the request, once.  Whether an
 * event is sent is said with each; an event that no queue has room for is
 * counted as dropped, and the visitor is served all the same.
 */
#ifndef REDIRECTOR_RESPONDER_H
#define REDIRECTOR_RESPONDER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/http/http_server.h"
#include "common/ip.h"
#include "redirector/click_event.h"
#include "redirector/link_cache.h"
#include "redirector/redirector.h"
#include "redirector/redirector_metrics.h"
#include "redirector/virtual_host.h"

struct responder;

/* All of them must outlive the responder.  `loop` is that of the thread, which
 * has this number. */
struct responder *responder_new(const struct redirector *r, unsigned thread,
				struct loop *loop,
				struct redirector_counters *counters,
				struct error *err);
void responder_free(struct responder *r); /* NULL accepted */

/* At the end of a turn: hands over what its answers have to say. */
void responder_end_turn(struct responder *r);

/* The virtual hosts that it answers by; before the first answer. */
void responder_use_hosts(struct responder *r,
			 const struct virtual_hosts *hosts);

/* Whose request it is, as events have it. */
struct address responder_client(const struct responder *r,
				const struct http_request *req);

/* What an event has of the request; the rest of it is zeroed. */
void responder_read_click(const struct responder *r,
			  const struct http_request *req,
			  struct click *ret_click);

/*
 * A redirect or a page, as the link says, if it is shown under the request's
 * Host; an event.  A path behind the code is that of a link that passes it on,
 * or passed over (trim_paths), or a 404 without one. `now` is monotonic ms.
 * Returns false, with nothing answered, when the link may be visited only so
 * many times: the visit has to be counted, and then comes
 * responder_send_counted.
 */
bool responder_send_link(struct responder *r, struct http_request *req,
			 struct http_slice code, const struct cached_link *link,
			 int64_t now);

/* A visit that was counted: as the link says, whose outcome is
 * LINK_OUTCOME_GONE if it was one too many; an event. */
void responder_send_counted(struct responder *r, struct http_request *req,
			    const struct cached_link *link, int64_t now);

/* 404, or the fallback, for a code that no link can have; an event without a
 * link, unless the path goes on behind the code. */
void responder_send_unknown(struct responder *r, struct http_request *req,
			    struct http_slice code);

/* 404 for a Host that is not ours; no event, nobody visited us. */
void responder_send_refused_host(struct responder *r, struct http_request *req);

/* A file of the Host's domain that the path is for (app_file.h); no event.
 * Returns false, with nothing answered, when there is none. */
bool responder_send_app_file(struct responder *r, struct http_request *req);

/* What each host answers at a path that no code can have: /robots.txt and
 * /favicon.ico; no event.  Returns false, with nothing answered, at others. */
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

/* 429 for a fetch that uses up no visit, of a link that had too many of these;
 * no event. */
void responder_send_over_fetches(struct responder *r, struct http_request *req);

/* 503: there may be a link, but it cannot be found now; no event.  `why` is
 * COUNTER_UNAVAILABLE, COUNTER_UNAVAILABLE_LATE or COUNTER_UNAVAILABLE_BREAKER.
 */
void responder_send_unavailable(struct responder *r, struct http_request *req,
				enum redirector_counter why);

#endif
