#include "collector/tools/explain/answer.h"

#include <stdlib.h>
#include <string.h>

#include "collector/enrich/cache.h"
#include "collector/enrich/enricher.h"
#include "collector/enrich/referrer.h"
#include "collector/enrich/row.h"
#include "collector/enrich/ua/ua.h"
#include "collector/tools/explain/json_member.h"
#include "collector/tools/explain/why.h"
#include "common/clock.h"

struct answerer {
	const struct collector_settings *settings;
	struct enricher *enricher;
	struct ua_parser *parser;
	struct ua_result ua;
	/* Pieces of answers: by user agent, and by place. */
	struct cache *agents;
	struct cache *places;
	struct buf piece;
	struct why *why; /* NULL: nobody asks */
};

struct answerer *answerer_new(const struct collector_settings *settings,
			      bool why, struct error *err)
{
	struct answerer *a = calloc(1, sizeof(*a));
	const struct reference *ref;

	if (!a) {
		error_set_nomem(err);
		return NULL;
	}
	a->settings = settings;
	a->enricher = enricher_new(settings, err);
	if (!a->enricher)
		goto fail;
	ref = enricher_reference(a->enricher);
	a->parser = ua_parser_new(ref->ua, err);
	a->agents = cache_new((size_t)settings->ua_cache, err);
	a->places = cache_new((size_t)settings->geo_cache, err);
	if (!a->parser || !a->agents || !a->places)
		goto fail;
	if (!why)
		return a;
	a->why = why_new(ref, err);
	if (a->why)
		return a;
fail:
	answerer_free(a);
	return NULL;
}

void answerer_free(struct answerer *a)
{
	if (!a)
		return;
	why_free(a->why);
	ua_parser_free(a->parser);
	ua_result_free(&a->ua);
	cache_free(a->agents);
	cache_free(a->places);
	buf_free(&a->piece);
	enricher_free(a->enricher);
	free(a);
}

static void put_part(struct answerer *a, const char *name, enum ua_field first,
		     const char *const *keys)
{
	member_open(&a->piece, name);
	for (size_t i = 0; keys[i]; i++) {
		struct ua_text t = ua_get(&a->ua, (enum ua_field)(first + i));

		member_text(&a->piece, keys[i], t.data, t.len);
	}
	buf_putc(&a->piece, '}');
}

static int put_agent(struct answerer *a, const char *text, size_t len,
		     struct error *err)
{
	static const char *const agent[] = {"family", "major", "minor", "patch",
					    NULL};
	static const char *const os[] = {"family", "major",	  "minor",
					 "patch",  "patch_minor", NULL};
	static const char *const device[] = {"family", "brand", "model", NULL};

	if (ua_parse(a->parser, text, len, &a->ua, err) < 0)
		return -1;
	buf_reset(&a->piece);
	put_part(a, "user_agent", UA_FAMILY, agent);
	put_part(a, "os", UA_OS_FAMILY, os);
	put_part(a, "device", UA_DEVICE_FAMILY, device);
	if (a->piece.failed)
		return error_set_nomem(err);
	cache_put(a->agents, text, len, a->piece.data, a->piece.len);
	return 0;
}

/* user_agent, os and device; parsed again when it is asked why. */
static int append_agent(struct answerer *a, const char *text, size_t len,
			struct buf *out, struct error *err)
{
	size_t piece_len;
	const char *piece =
		a->why ? NULL : cache_get(a->agents, text, len, &piece_len);

	if (piece) {
		buf_append(out, piece, piece_len);
		return 0;
	}
	if (put_agent(a, text, len, err) < 0)
		return -1;
	buf_append(out, a->piece.data, a->piece.len);
	return 0;
}

static void put_geo_text(struct buf *b, const char *key, struct geo_text t)
{
	member_text(b, key, t.data, t.len);
}

static void put_place(struct buf *b, const struct geo_record *r)
{
	bool located = r->latitude != 0 || r->longitude != 0;

	member_open(b, "geo");
	put_geo_text(b, "continent", r->continent);
	put_geo_text(b, "country", r->country);
	put_geo_text(b, "region", r->region);
	put_geo_text(b, "city", r->city);
	put_geo_text(b, "postal_code", r->postal_code);
	if (located) {
		member_float(b, "latitude", r->latitude);
		member_float(b, "longitude", r->longitude);
	} else {
		member_null(b, "latitude");
		member_null(b, "longitude");
	}
	put_geo_text(b, "time_zone", r->time_zone);
	if (r->asn)
		member_uint(b, "asn", r->asn);
	else
		member_null(b, "asn");
	put_geo_text(b, "as_org", r->as_org);
	buf_putc(b, '}');
}

/* `known`: there is an address. */
static void append_place(struct answerer *a, const uint8_t ip[16], bool known,
			 struct buf *out)
{
	const struct geo *geo = enricher_reference(a->enricher)->geo;
	struct geo_record record = {0};
	struct geo_place place = {0};
	const void *piece;
	size_t len;

	if (known)
		geo_find(geo, ip, &place);
	piece = cache_get(a->places, &place, sizeof(place), &len);
	if (piece) {
		buf_append(out, piece, len);
		return;
	}
	if (known)
		geo_read(geo, &place, &record);
	buf_reset(&a->piece);
	put_place(&a->piece, &record);
	if (!a->piece.failed)
		cache_put(a->places, &place, sizeof(place), a->piece.data,
			  a->piece.len);
	buf_append(out, a->piece.data, a->piece.len);
	out->failed |= a->piece.failed;
}

static void append_verdict(const struct click_facts *facts, struct buf *out)
{
	member_open(out, "verdict");
	member_word(out, "class", verdict_name(facts->verdict.kind));
	member_word(out, "reason", facts->verdict.reason);
	member_uint(out, "rules", facts->rules);
	buf_putc(out, '}');
}

/* Without address and user agent there is nobody to tell from others. */
static void append_visitor(const Shortloop__Click *click,
			   const unsigned char identity[IDENTITY_LEN],
			   struct buf *out)
{
	static const char digits[] = "0123456789abcdef";
	char hex[2 * IDENTITY_LEN];

	for (size_t i = 0; i < IDENTITY_LEN; i++) {
		hex[2 * i] = digits[identity[i] >> 4];
		hex[2 * i + 1] = digits[identity[i] & 15];
	}
	if (click->client_ip.len || click->user_agent.len)
		member_text(out, "visitor", hex, sizeof(hex));
	else
		member_null(out, "visitor");
}

static void append_referrer(const struct answerer *a,
			    const Shortloop__Click *click, struct buf *out)
{
	struct referrer r;

	referrer_parse((const char *)click->referrer.data, click->referrer.len,
		       click->domain, enricher_reference(a->enricher)->sources,
		       &r);
	member_open(out, "referrer");
	member_word(out, "host", r.host);
	member_word(out, "channel", r.channel);
	buf_putc(out, '}');
}

/* A user agent is parsed as far as the collector keeps it. */
static size_t kept(const struct answerer *a, const Shortloop__Click *click)
{
	size_t max = (size_t)a->settings->max_text;

	return click->user_agent.len < max ? click->user_agent.len : max;
}

static void append_why(struct answerer *a, const struct visit_question *q,
		       const struct click_facts *facts, struct buf *out)
{
	const struct why_case c = {
		.click = &q->click,
		.ip = facts->has_ip ? facts->ip : NULL,
		.ua = &a->ua,
		.ua_len = kept(a, &q->click),
		.verdict = facts->verdict,
	};

	if (a->why)
		why_append(a->why, &c, out);
}

int answer_append(struct answerer *a, struct visit_question *q, struct buf *out,
		  struct error *err)
{
	struct event_origin origin = {.topic = ""};
	const char *ua = (const char *)q->click.user_agent.data;
	struct click_facts facts;

	origin.append_ms = clock_real_ms();
	q->click.time_ms = (uint64_t)origin.append_ms;
	if (enricher_facts(a->enricher, &origin, &q->click, &facts, err) < 0)
		return -1;
	buf_putc(out, '{');
	if (append_agent(a, ua, kept(a, &q->click), out, err) < 0)
		return -1;
	buf_putc(out, ',');
	append_place(a, facts.ip, facts.has_ip, out);
	append_verdict(&facts, out);
	append_visitor(&q->click, facts.identity, out);
	append_referrer(a, &q->click, out);
	member_word(out, "device_class", facts.agent.device_class);
	append_why(a, q, &facts, out);
	if (q->bad_ip.code)
		member_word(out, "error", q->bad_ip.text);
	buf_putc(out, '}');
	return out->failed ? error_set_nomem(err) : 0;
}

void answer_append_error(struct buf *out, const struct error *reason)
{
	buf_putc(out, '{');
	member_word(out, "error", reason->text);
	buf_putc(out, '}');
}
