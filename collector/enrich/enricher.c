#include "collector/enrich/enricher.h"

#include <stdlib.h>
#include <string.h>

#include "collector/enrich/click_verdict.h"
#include "collector/enrich/event.h"
#include "collector/enrich/forgotten.h"
#include "collector/enrich/lookups.h"
#include "collector/enrich/row.h"
#include "common/clock.h"

/* The clocks of edges may be ahead of Kafka's by this much. */
#define AHEAD_MAX (5 * CLOCK_MINUTE)

struct enricher {
	const struct collector_settings *settings;
	struct click_decoder *decoder;
	struct enrich_lookups *lookups;
	struct identity_hasher *hasher;
	struct bursts *bursts;
	struct forgotten *forgotten; /* NULL: nothing is forgotten */
	uint64_t verdicts[VERDICT_KIND_COUNT];
	uint64_t late;
	struct arena arena; /* for the event in work */
};

struct enricher *enricher_new(const struct collector_settings *settings,
			      struct error *err)
{
	const struct bursts_limits limits = {settings->scan_window,
					     settings->scan_codes,
					     settings->scan_not_found};
	struct enricher *e = calloc(1, sizeof(*e));

	if (!e) {
		error_set_nomem(err);
		return NULL;
	}
	e->settings = settings;
	e->decoder = event_decoder_new(err);
	if (e->decoder)
		e->lookups = enrich_lookups_new(settings, err);
	if (e->lookups)
		e->hasher = identity_hasher_new(
			collector_visitor_secret(settings), err);
	if (e->hasher)
		e->bursts =
			bursts_new(&limits, (size_t)settings->scan_memory, err);
	if (e->bursts)
		return e;
	enricher_free(e);
	return NULL;
}

void enricher_free(struct enricher *e)
{
	if (!e)
		return;
	click_decoder_free(e->decoder);
	enrich_lookups_free(e->lookups);
	identity_hasher_free(e->hasher);
	bursts_free(e->bursts);
	forgotten_free(e->forgotten);
	arena_free(&e->arena);
	free(e);
}

void enricher_exchange(struct enricher *e, struct enrich_lookups *fresh)
{
	enrich_lookups_exchange(e->lookups, fresh);
}

int enricher_forget(struct enricher *e, struct forgotten *list,
		    struct error *err)
{
	if (!list)
		return 0;
	if (forgotten_unite(list, e->forgotten, err) < 0) {
		forgotten_free(list);
		return -1;
	}
	forgotten_free(e->forgotten);
	e->forgotten = list;
	return 0;
}

struct forgotten_state enricher_forgotten(const struct enricher *e)
{
	return forgotten_state_of(e->forgotten);
}

/* Moves an event's time into its possible range: an edge's clock may be wrong,
 * and an event that Kafka stored after a day was sealed belongs to a later
 * day. */
static int64_t clamp_time(const struct enricher *e, uint64_t time_ms,
			  int64_t append_ms)
{
	int64_t first = append_ms - e->settings->clicks.late_window;
	int64_t last = append_ms + AHEAD_MAX;
	int64_t ts = (int64_t)time_ms;

	if (ts < first)
		ts = first;
	if (ts > last)
		ts = last;
	return ts > 0 ? ts : 0;
}

/* Copies the address in the column's form: IPv6, with IPv4 mapped into it. */
static void copy_ip(const Shortloop__Click *click, uint8_t ip[16])
{
	memset(ip, 0, 16);
	if (click->client_ip.len == 16) {
		memcpy(ip, click->client_ip.data, 16);
	} else if (click->client_ip.len == 4) {
		ip[10] = ip[11] = 0xff;
		memcpy(ip + 12, click->client_ip.data, 4);
	}
}

static size_t limit_text_length(size_t len, int64_t max)
{
	return len < (size_t)max ? len : (size_t)max;
}

/* Decides which part of the address is stored, and whether the rest of it may
 * be used. */
static void choose_ip(const struct enricher *e, const Shortloop__Click *click,
		      struct click_facts *facts)
{
	const char *kind = e->settings->store_ip;

	facts->has_ip = click->client_ip.len > 0;
	memcpy(facts->stored_ip, facts->ip, sizeof(facts->ip));
	if (!strcmp(kind, "truncated"))
		identity_truncate(facts->stored_ip);
	else if (!strcmp(kind, "none"))
		memset(facts->stored_ip, 0, sizeof(facts->stored_ip));
	if (!e->settings->stored_ip_only)
		return;
	memcpy(facts->ip, facts->stored_ip, sizeof(facts->ip));
	facts->has_ip = facts->has_ip && strcmp(kind, "none") != 0;
}

static int find_identity(struct enricher *e, const Shortloop__Click *click,
			 struct click_facts *facts, struct error *err)
{
	const ProtobufCBinaryData *ua = &click->user_agent;
	size_t len = facts->has_ip ? click->client_ip.len : 0;

	return identity_of(e->hasher, facts->ip + sizeof(facts->ip) - len, len,
			   ua->data, ua->len, facts->ts, facts->identity, err);
}

static void apply_rules(const struct enricher *e, const Shortloop__Click *click,
			struct click_facts *facts)
{
	const struct verdict_rules *rules = e->lookups->ref.verdict_rules;
	const struct verdict_subject subject = {
		.account = click->account,
		.owner = click->owner,
		.agent = (const char *)click->user_agent.data,
		.agent_len = limit_text_length(click->user_agent.len,
					       e->settings->max_text),
		.asn = rules->by_asn && facts->has_ip
			       ? place_asn(facts->places, facts->ip)
			       : 0,
		.ip = facts->stored_ip,
	};

	facts->rule = verdict_rules_find(rules, &subject);
	if (facts->rule)
		facts->verdict = verdict_of_rule(
			facts->rule, click->prefetch,
			click->outcome == SHORTLOOP__OUTCOME__OUTCOME_HEAD);
}

int enricher_facts(struct enricher *e, const struct event_origin *origin,
		   const Shortloop__Click *click, struct click_facts *facts,
		   struct error *err)
{
	const ProtobufCBinaryData *ua = &click->user_agent;

	facts->forgotten = facts->link_forgotten = false;
	facts->ts = clamp_time(e, click->time_ms, origin->append_ms);
	facts->max_text = (size_t)e->settings->max_text;
	facts->places = e->lookups->places;
	facts->sources = e->lookups->ref.sources;
	facts->sites = e->lookups->sites;
	copy_ip(click, facts->ip);
	choose_ip(e, click, facts);
	/* The tables of places and bursts are larger than the processor's
	 * caches: both are prefetched while hashes are calculated. */
	if (facts->has_ip)
		place_expect(facts->places, facts->ip);
	if (find_identity(e, click, facts, err) < 0)
		return -1;
	bursts_expect(e->bursts, facts->identity);
	if (agent_find(e->lookups->agents, (const char *)ua->data,
		       limit_text_length(ua->len, e->settings->max_text),
		       &facts->agent, err) < 0)
		return -1;
	facts->verdict = verdict_of_click(click, facts->agent.verdict);
	apply_rules(e, click, facts);
	facts->rules = e->lookups->ref.rules;
	return 0;
}

/* Only clicks that become rows count for bursts; clicks that are shown do
 * not. */
static void apply_burst(struct enricher *e, const Shortloop__Click *click,
			struct click_facts *facts)
{
	bool not_found =
		click->outcome == SHORTLOOP__OUTCOME__OUTCOME_NOT_FOUND;
	enum burst burst;

	if (facts->rule || !verdict_leaves_open(facts->verdict))
		return;
	burst = bursts_note(e->bursts, facts->identity, facts->ts, click->code,
			    not_found);
	facts->verdict = verdict_of_burst(burst, facts->verdict);
}

/* --- forgotten visitors and links -------------------------------------------
 *
 * A row stays, so that each event has one.  It loses what identifies the
 * visitor, and keeps the verdict by which it was counted: row.c writes what
 * schemas/click_columns.inc leaves, and `aggregator forget` makes the same of
 * stored rows.
 */

/* An event that is late or sent again has two times: the earlier one counts. */
static bool is_visitor_forgotten(const struct enricher *e,
				 const struct event_origin *origin,
				 const Shortloop__Click *click,
				 const struct click_facts *facts)
{
	int64_t at = origin->append_ms;

	if (click->time_ms < (uint64_t)at)
		at = (int64_t)click->time_ms;
	return forgotten_has_visitor(e->forgotten, facts->identity, at);
}

static void apply_forgotten(const struct enricher *e,
			    const struct event_origin *origin,
			    const Shortloop__Click *click,
			    struct click_facts *facts)
{
	facts->link_forgotten =
		forgotten_has_link(e->forgotten, click->link_id);
	facts->forgotten = facts->link_forgotten ||
			   is_visitor_forgotten(e, origin, click, facts);
}

/* Removes an incomplete row if memory ran out. */
static int finish_row(struct buf *rows, size_t start, struct error *err)
{
	if (!rows->failed)
		return 0;
	rows->len = start;
	rows->failed = false;
	return error_set_nomem(err);
}

static uint32_t epoch_of(const struct enricher *e,
			 const struct event_origin *origin)
{
	return origin->epoch ? origin->epoch : (uint32_t)e->settings->epoch;
}

int enricher_click_row(struct enricher *e, const struct event_origin *origin,
		       const Shortloop__Click *click, struct buf *rows,
		       int64_t *ret_ts, struct error *err)
{
	struct row_origin where = {epoch_of(e, origin), origin};
	struct click_facts facts;
	size_t start = rows->len;

	if (enricher_facts(e, origin, click, &facts, err) < 0)
		return -1;
	apply_burst(e, click, &facts);
	if (!forgotten_is_empty(e->forgotten))
		apply_forgotten(e, origin, click, &facts);
	row_append_click(rows, &where, click, &facts);
	if (finish_row(rows, start, err) < 0)
		return -1;
	e->verdicts[facts.verdict.kind]++;
	e->late += click_is_late(&e->settings->clicks, facts.ts,
				 origin->append_ms);
	*ret_ts = facts.ts;
	return 0;
}

int enricher_click(struct enricher *e, const struct event_origin *origin,
		   const void *event, size_t len, struct buf *rows,
		   int64_t *ret_ts, struct error *err)
{
	const Shortloop__Click *click =
		event_click(e->decoder, &e->arena, event, len, err);
	int status = -1;

	if (click)
		status =
			enricher_click_row(e, origin, click, rows, ret_ts, err);
	arena_reset(&e->arena);
	return status;
}

/* Appends the row of a creation; returns -1 when out of memory. */
static int append_creation(const Shortloop__LinkEvent *event, struct buf *rows,
			   int64_t *ret_created, struct error *err)
{
	size_t start = rows->len;

	row_append_creation(rows, event);
	if (finish_row(rows, start, err) < 0)
		return -1;
	*ret_created = (int64_t)row_creation_slot(event->link) * CLOCK_SECOND;
	return 0;
}

int enricher_link(struct enricher *e, const struct event_origin *origin,
		  const void *event, size_t len, const struct link_rows *rows,
		  int64_t *ret_created, struct error *err)
{
	struct row_origin where = {epoch_of(e, origin), origin};
	const Shortloop__LinkEvent *link;
	size_t start = rows->links->len;
	int64_t created = -1;
	int status = -1;

	link = event_link(&e->arena, event, len, err);
	if (link) {
		row_append_link(
			rows->links, &where, link,
			forgotten_has_link(e->forgotten, link->link->link_id));
		status = finish_row(rows->links, start, err);
	}
	if (status == 0 &&
	    link->change == SHORTLOOP__LINK_CHANGE__LINK_CREATED) {
		status = append_creation(link, rows->creations, &created, err);
		if (status < 0)
			rows->links->len = start;
	}
	if (status == 0)
		*ret_created = created;
	arena_reset(&e->arena);
	return status;
}

const struct reference *enricher_reference(const struct enricher *e)
{
	return &e->lookups->ref;
}

struct enricher_stats enricher_stats(const struct enricher *e)
{
	struct enricher_stats stats = {
		.agents = agent_stats(e->lookups->agents),
		.places = place_stats(e->lookups->places),
		.geo_bytes = geo_bytes(e->lookups->ref.geo),
		.late = e->late,
	};

	memcpy(stats.verdicts, e->verdicts, sizeof(stats.verdicts));
	return stats;
}
