#include "collector/tools/explain/trace.h"

#include <stdlib.h>
#include <string.h>

#include "collector/enrich/device_class.h"
#include "collector/enrich/geo/geo_record.h"
#include "collector/enrich/geo/special.h"
#include "collector/enrich/language.h"
#include "collector/enrich/referrer.h"
#include "collector/enrich/ua/ua.h"
#include "collector/tools/explain/json_member.h"

struct trace {
	const struct reference *ref;
	struct pattern_matcher *bots;
};

struct trace *trace_new(const struct reference *ref, struct error *err)
{
	struct trace *t = calloc(1, sizeof(*t));

	if (!t) {
		error_set_nomem(err);
		return NULL;
	}
	t->ref = ref;
	t->bots = pattern_matcher_new(bots_patterns(ref->bots), err);
	if (t->bots)
		return t;
	trace_free(t);
	return NULL;
}

void trace_free(struct trace *t)
{
	if (!t)
		return;
	pattern_matcher_free(t->bots);
	free(t);
}

static void append_rule(const struct trace *t, const struct trace_case *c,
			enum ua_part part, const char *key, struct buf *out)
{
	struct ua_rule_source rule;

	if (!ua_rule_of(t->ref->ua, c->ua, part, &rule)) {
		member_null(out, key);
		return;
	}
	member_open(out, key);
	member_word(out, "regex", rule.regex);
	member_uint(out, "rule", rule.number);
	member_uint(out, "line", rule.line);
	buf_putc(out, '}');
}

/* --- geo --------------------------------------------------------------- */

/* The values of a record, used to find each one's file. */
struct place_value {
	const char *name;
	bool (*has)(const struct geo_record *r);
};

static bool has_continent(const struct geo_record *r)
{
	return r->continent.len > 0;
}

static bool has_country(const struct geo_record *r)
{
	return r->country.len > 0;
}

static bool has_region(const struct geo_record *r)
{
	return r->region.len > 0;
}

static bool has_city(const struct geo_record *r)
{
	return r->city.len > 0;
}

static bool has_postal_code(const struct geo_record *r)
{
	return r->postal_code.len > 0;
}

static bool has_location(const struct geo_record *r)
{
	return r->latitude != 0 || r->longitude != 0;
}

static bool has_time_zone(const struct geo_record *r)
{
	return r->time_zone.len > 0;
}

static bool has_asn(const struct geo_record *r)
{
	return r->asn != 0;
}

static bool has_as_org(const struct geo_record *r)
{
	return r->as_org.len > 0;
}

static const struct place_value values[] = {
	{"continent", has_continent},
	{"country", has_country},
	{"region", has_region},
	{"city", has_city},
	{"postal_code", has_postal_code},
	{"latitude", has_location},
	{"longitude", has_location},
	{"time_zone", has_time_zone},
	{"asn", has_asn},
	{"as_org", has_as_org},
};

enum {
	VALUE_COUNT = sizeof(values) / sizeof(*values)
};

/* Returns the first file that has a value; it is found by reading the records
 * one by one. */
static size_t giver_of(const struct geo *geo, const struct geo_place *place,
		       const struct place_value *value)
{
	for (size_t i = 0; i < GEO_FILES_MAX; i++) {
		struct geo_place alone = {0};
		struct geo_record record;

		if (!place->records[i])
			continue;
		alone.records[i] = place->records[i];
		geo_read(geo, &alone, &record);
		if (value->has(&record))
			return i;
	}
	return GEO_FILES_MAX;
}

static void append_geo(const struct trace *t, const uint8_t ip[16],
		       struct buf *out)
{
	struct geo_place place;
	char network[GEO_NETWORK_MAX];

	member_open(out, "geo");
	geo_find(t->ref->geo, ip, &place);
	for (size_t v = 0; v < VALUE_COUNT; v++) {
		size_t file = giver_of(t->ref->geo, &place, &values[v]);

		if (file == GEO_FILES_MAX)
			continue;
		member_open(out, values[v].name);
		member_word(out, "file", geo_file(t->ref->geo, file));
		member_word(out, "network",
			    geo_network(t->ref->geo, file, ip, network));
		buf_putc(out, '}');
	}
	/* The address is not of the public Internet: no file was searched. */
	if (place.kind) {
		member_open(out, "country");
		member_null(out, "file");
		member_null(out, "network");
		member_word(out, "special", special_name(place.kind));
		buf_putc(out, '}');
	}
	buf_putc(out, '}');
}

/* --- other values --------------------------------------------------------- */

static void append_verdict(const struct trace *t, const struct trace_case *c,
			   struct buf *out)
{
	const char *ua = (const char *)c->click->user_agent.data;
	struct bot bot;

	member_open(out, "verdict");
	if (c->rule) {
		member_word(out, "origin", "verdict_rules");
		member_uint(out, "entry",
			    (uint64_t)(c->rule - t->ref->verdict_rules->items) +
				    1);
	} else if (c->ua_len && bots_find(t->ref->bots, t->bots, ua, c->ua_len,
					  device_is_held(c->ua), &bot)) {
		member_word(out, "origin", bot_origin_name(bot.origin));
		member_word(out, "pattern", bot.pattern);
		/* Patterns of a file are numbered. */
		if (bot.entry)
			member_uint(out, "entry", bot.entry);
	} else if (c->verdict.reason ==
		   verdict_of_request("", true, verdict_human).reason) {
		member_word(out, "method", "HEAD");
	} else if (c->verdict.kind == VERDICT_PREFETCH) {
		member_word(out, "purpose", c->click->prefetch);
	}
	buf_putc(out, '}');
}

static void append_referrer(const struct trace *t,
			    const Shortloop__Click *click, struct buf *out)
{
	struct referrer r;

	referrer_parse((const char *)click->referrer.data, click->referrer.len,
		       click->domain, t->ref->sources, &r);
	member_open(out, "referrer");
	member_word(out, "domain", sources_domain(t->ref->sources, r.host));
	member_word(out, "entry", r.source.site);
	member_word(out, "origin", r.source.origin);
	buf_putc(out, '}');
}

void trace_append(struct trace *t, const struct trace_case *c, struct buf *out)
{
	char language[LANGUAGE_MAX + 1];

	member_open(out, "why");
	append_rule(t, c, UA_PART_AGENT, "user_agent", out);
	append_rule(t, c, UA_PART_OS, "os", out);
	append_rule(t, c, UA_PART_DEVICE, "device", out);
	if (c->ip)
		append_geo(t, c->ip, out);
	else
		member_null(out, "geo");
	append_verdict(t, c, out);
	append_referrer(t, c->click, out);
	language_parse((const char *)c->click->accept_language.data,
		       c->click->accept_language.len, language);
	member_word(out, "language", language);
	buf_putc(out, '}');
}
