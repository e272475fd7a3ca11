/*
 * responder.h - answers a visit, counts it and reports it to Kafka.
 *
 * Belongs to one thread.  Each function answers the request, once.  Whether an
 * event is sent is said with each; an event that Kafka's queue has no room for
 * is counted as dropped, and the visitor is served all the same.
 */
#ifndef REDIRECTOR_RESPONDER_H
#define REDIRECTOR_RESPONDER_H

#include <stdbool.h>

#include "common/http/http_server.h"
#include "common/kafka/producer.h"
#include "redirector/client_address.h"
#include "redirector/counts.h"
#include "redirector/link_cache.h"
#include "redirector/place.h"
#include "redirector/redirector_settings.h"

/* All of it must outlive the responder. */
struct responder_parts {
	const struct redirector_settings *settings;
	const char *edge; /* the name in events */
	const struct proxy_list *proxies;
	const struct places *places;
	struct kafka_producer *producer;
	struct counts *counts;
};

struct responder;

struct responder *responder_new(const struct responder_parts *parts,
				struct error *err);
void responder_free(struct responder *r); /* NULL accepted */

/*
 * As the link says, if it is shown under the request's Host; an event.  `now`
 * is monotonic ms.  Returns false, with nothing answered, when only so many
 * visits are allowed: it has to be counted, and then comes respond_counted.
 */
bool respond_link(struct responder *r, struct http_request *req,
		  struct http_slice code, const struct cached_link *link,
		  int64_t now);

/* A visit that was counted: as the link says, whose outcome is
 * LINK_OUTCOME_GONE if it was one too many; an event. */
void respond_counted(struct responder *r, struct http_request *req,
		     const struct cached_link *link, int64_t now);

/* 404, or the fallback, for a code that no link can have; an event without a
 * link. */
void respond_unknown(struct responder *r, struct http_request *req,
		     struct http_slice code);

/* 404 for a Host that is not ours; no event, nobody visited us. */
void respond_refused_host(struct responder *r, struct http_request *req);

/* The fallback for `/`, or 404; no event, since no code was visited. */
void respond_no_code(struct responder *r, struct http_request *req);

/* 405; no event. */
void respond_no_method(struct responder *r, struct http_request *req);

/* 503: there may be a link, but it cannot be found now; no event. */
void respond_unavailable(struct responder *r, struct http_request *req);

#endif
