#include "redirector/responder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/kafka/producer.h"
#include "redirector/answer.h"
#include "redirector/click_event.h"
#include "redirector/visit.h"

struct responder {
	struct responder_parts parts;
	struct click_encoder *encoder;
	struct visit_rules rules;
	struct buf part;  /* of an event whose code has no entry */
	struct buf lines; /* of a redirect that is put together */
	char retry_after[32];
};

struct responder *responder_new(const struct responder_parts *parts,
				struct error *err)
{
	const struct redirector_settings *s = parts->settings;
	const struct click_limits limits = {
		(size_t)s->max_user_agent, (size_t)s->max_referrer,
		(size_t)s->max_accept_language, (size_t)s->max_query};
	struct responder *r = calloc(1, sizeof(*r));

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	r->parts = *parts;
	r->rules.proxies = parts->proxies;
	r->rules.style = strcmp(s->client_header, "forwarded") == 0
				 ? FORWARDED_RFC7239
				 : FORWARDED_LIST;
	snprintf(r->retry_after, sizeof(r->retry_after), "%" PRId64,
		 s->retry_after / CLOCK_SECOND);
	r->encoder = click_encoder_new(parts->edge, &limits, err);
	if (!r->encoder) {
		responder_free(r);
		return NULL;
	}
	return r;
}

void responder_free(struct responder *r)
{
	if (!r)
		return;
	click_encoder_free(r->encoder);
	buf_free(&r->part);
	buf_free(&r->lines);
	free(r);
}

static void produce(struct responder *r, const struct click *click)
{
	struct http_slice event = click_encode(r->encoder, click);
	struct error err;

	if (!event.data) {
		count(r->parts.counts, COUNT_DROPPED_REFUSED);
		return;
	}
	if (kafka_produce(r->parts.producer, NULL, 0, event.data, event.len,
			  NULL, &err) == 0)
		count(r->parts.counts, COUNT_EVENTS);
	else
		count(r->parts.counts, err.code == ERROR_BUSY
					       ? COUNT_DROPPED_FULL
					       : COUNT_DROPPED_REFUSED);
}

struct verdict {
	Shortloop__Outcome outcome;
	int status;
	enum count kind;
};

static enum count kind_of_redirect(int status)
{
	switch (status) {
	case 301:
		return COUNT_301;
	case 307:
		return COUNT_307;
	case 308:
		return COUNT_308;
	default:
		return COUNT_302;
	}
}

static struct verdict judge(const struct cached_link *link, bool head)
{
	switch (link->outcome) {
	case LINK_OUTCOME_GONE:
		return (struct verdict){SHORTLOOP__OUTCOME__OUTCOME_EXPIRED,
					410, COUNT_GONE};
	case LINK_OUTCOME_BLOCKED:
		return (struct verdict){SHORTLOOP__OUTCOME__OUTCOME_BLOCKED,
					451, COUNT_BLOCKED};
	case LINK_OUTCOME_REDIRECT:
		if (head)
			return (struct verdict){
				SHORTLOOP__OUTCOME__OUTCOME_HEAD, link->status,
				COUNT_HEAD};
		return (struct verdict){SHORTLOOP__OUTCOME__OUTCOME_REDIRECTED,
					link->status,
					kind_of_redirect(link->status)};
	case LINK_OUTCOME_UNKNOWN:
		break;
	}
	return (struct verdict){SHORTLOOP__OUTCOME__OUTCOME_NOT_FOUND, 404,
				COUNT_NOT_FOUND};
}

/* Where a code without a link leads, if it leads anywhere. */
static const char *fallback_of(const struct responder *r,
			       const struct place *place,
			       const struct cached_link *link)
{
	if (link->outcome != LINK_OUTCOME_UNKNOWN ||
	    !r->parts.settings->fallback_unknown)
		return NULL;
	return place->fallback_url;
}

static void report(struct responder *r, struct click *click,
		   const struct cached_link *link, const struct verdict *v)
{
	click->time_ms = clock_real_ms();
	click->outcome = v->outcome;
	click->status = v->status;
	click->link_part = link->event;
	produce(r, click);
	count(r->parts.counts, v->kind);
}

static Shortloop__Device device_for(const struct cached_link *link,
				    const struct click *click)
{
	if (link->lines.len == link->line_ends[0])
		return SHORTLOOP__DEVICE__DEVICE_ANY;
	return device_of(click->user_agent);
}

/* The event goes first: the request's strings are gone once it is answered. */
static void answer(struct responder *r, struct http_request *req,
		   const struct place *place, const struct cached_link *link,
		   struct click *click, int64_t now)
{
	const char *fallback = fallback_of(r, place, link);
	struct verdict v = judge(link, http_method_is(req, "HEAD"));
	Shortloop__Device device;

	if (fallback) {
		v.status = 302;
		v.kind = COUNT_FALLBACK;
	}
	device = device_for(link, click);
	report(r, click, link, &v);
	switch (link->outcome) {
	case LINK_OUTCOME_REDIRECT:
		answer_redirect(req, link, device,
				r->parts.settings->permanent_max_age, now,
				&r->lines);
		break;
	case LINK_OUTCOME_GONE:
		answer_gone(req);
		break;
	case LINK_OUTCOME_BLOCKED:
		answer_blocked(req);
		break;
	case LINK_OUTCOME_UNKNOWN:
		if (fallback)
			answer_fallback(req, fallback);
		else
			answer_not_found(req);
		break;
	}
}

/* A code that has no link, as far as this visitor is concerned. */
static void answer_unknown(struct responder *r, struct http_request *req,
			   const struct place *place, struct http_slice code,
			   struct click *click)
{
	struct cached_link nothing = {.outcome = LINK_OUTCOME_UNKNOWN};

	buf_reset(&r->part);
	click_link_part(&r->part, code, 0, NULL, NULL, NULL, 0);
	nothing.event = (struct http_slice){r->part.data, r->part.len};
	answer(r, req, place, &nothing, click, 0);
}

bool respond_link(struct responder *r, struct http_request *req,
		  struct http_slice code, const struct cached_link *link,
		  int64_t now)
{
	const struct place *place;
	struct click click;

	visit_describe(req, &r->rules, &click);
	place = places_find(r->parts.places, click.host);
	if (!place_shows(place, click.host, link))
		answer_unknown(r, req, place, code, &click);
	else if (link->max_visits && link->outcome == LINK_OUTCOME_REDIRECT)
		return false;
	else
		answer(r, req, place, link, &click, now);
	return true;
}

void respond_counted(struct responder *r, struct http_request *req,
		     const struct cached_link *link, int64_t now)
{
	struct click click;

	visit_describe(req, &r->rules, &click);
	answer(r, req, places_find(r->parts.places, click.host), link, &click,
	       now);
}

void respond_unknown(struct responder *r, struct http_request *req,
		     struct http_slice code)
{
	struct click click;

	visit_describe(req, &r->rules, &click);
	answer_unknown(r, req, places_find(r->parts.places, click.host), code,
		       &click);
}

void respond_refused_host(struct responder *r, struct http_request *req)
{
	count(r->parts.counts, COUNT_REFUSED_HOST);
	answer_not_found(req);
}

void respond_no_code(struct responder *r, struct http_request *req)
{
	struct http_slice host = http_header_get(req, "Host"),
			  path = http_path(req);
	const char *fallback = places_find(r->parts.places, host)->fallback_url;

	if (path.len == 1 && path.data[0] == '/' && fallback) {
		count(r->parts.counts, COUNT_FALLBACK);
		answer_fallback(req, fallback);
		return;
	}
	count(r->parts.counts, COUNT_NOT_FOUND);
	answer_not_found(req);
}

void respond_no_method(struct responder *r, struct http_request *req)
{
	count(r->parts.counts, COUNT_NO_METHOD);
	answer_no_method(req);
}

void respond_unavailable(struct responder *r, struct http_request *req)
{
	count(r->parts.counts, COUNT_UNAVAILABLE);
	answer_unavailable(req, r->retry_after);
}
