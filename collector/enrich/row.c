#include "collector/enrich/row.h"

#include <string.h>

#include "collector/enrich/channel.h"
#include "collector/enrich/language.h"
#include "collector/enrich/referrer.h"
#include "collector/enrich/utm.h"
#include "common/clickhouse/rowbinary.h"
#include "linkstore/link/names.h"

/* --- clicks --------------------------------------------------------------- */

/* No value that means something is longer. */
#define PURPOSE_MAX 64

static void put_text(struct buf *row, const char *text)
{
	rowbinary_string(row, text, strlen(text));
}

static void put_cut(struct buf *row, ProtobufCBinaryData data, size_t max)
{
	rowbinary_string(row, data.data, data.len < max ? data.len : max);
}

static void put_origin(struct buf *row, const struct row_origin *origin)
{
	rowbinary_u32(row, origin->epoch);
	put_text(row, origin->event->topic);
	rowbinary_u32(row, origin->event->partition);
	rowbinary_u64(row, origin->event->offset);
	rowbinary_i64(row, origin->event->append_ms);
}

/* The enumeration of the column knows these; a later one is unspecified. */
static uint8_t outcome_of(const Shortloop__Click *click)
{
	int outcome = (int)click->outcome;

	return outcome > SHORTLOOP__OUTCOME__OUTCOME_HEAD || outcome < 0
		       ? 0
		       : (uint8_t)outcome;
}

static void put_link(struct buf *row, const Shortloop__Click *click)
{
	put_text(row, click->edge);
	put_text(row, click->domain);
	put_text(row, click->code);
	rowbinary_u64(row, click->link_id);
	put_text(row, click->owner);
	put_text(row, click->campaign);
	rowbinary_count(row, click->n_tags);
	for (size_t i = 0; i < click->n_tags; i++)
		put_text(row, click->tags[i]);
	rowbinary_u8(row, outcome_of(click));
	rowbinary_u16(row, (uint16_t)click->status);
	rowbinary_u8(row, click->maybe_sent ? 1 : 0);
}

static void put_referrer(struct buf *row, const Shortloop__Click *click,
			 const struct click_facts *facts, const struct utm *utm)
{
	struct referrer r;
	char language[LANGUAGE_MAX + 1];

	referrer_parse((const char *)click->referrer.data, click->referrer.len,
		       click->domain, facts->sources, &r);
	language_parse((const char *)click->accept_language.data,
		       click->accept_language.len, language);
	put_cut(row, click->referrer, facts->max_text);
	put_text(row, r.host);
	put_text(row, channel_of_visit(utm, r.channel, facts->sources));
	put_text(row, language);
}

static void put_query(struct buf *row, const Shortloop__Click *click,
		      const struct utm *utm, size_t max)
{
	put_cut(row, click->query, max);
	for (int i = 0; i < UTM_FIELDS; i++)
		rowbinary_string(row, utm->text[i], utm->len[i]);
}

static void put_cookies(struct buf *row, const Shortloop__Click *click)
{
	rowbinary_count(row, click->n_cookies);
	for (size_t i = 0; i < click->n_cookies; i++) {
		put_text(row, click->cookies[i]->key);
		put_text(row, click->cookies[i]->value);
	}
}

void row_append_click(struct buf *row, const struct row_origin *origin,
		      const Shortloop__Click *click,
		      const struct click_facts *facts)
{
	struct utm utm;

	utm_parse((const char *)click->query.data, click->query.len, &utm);
	put_origin(row, origin);
	rowbinary_u64(row, click->event_id_high);
	rowbinary_u64(row, click->event_id);
	rowbinary_i64(row, facts->ts);
	rowbinary_i64(row, (int64_t)click->time_ms);
	put_link(row, click);
	rowbinary_fixed(row, facts->stored_ip, sizeof(facts->stored_ip));
	rowbinary_fixed(row, facts->identity, sizeof(facts->identity));
	place_append(facts->places, facts->has_ip ? facts->ip : NULL, row);
	put_cut(row, click->user_agent, facts->max_text);
	buf_append(row, facts->agent.columns, facts->agent.columns_len);
	rowbinary_u8(row, (uint8_t)facts->verdict.kind);
	put_text(row, facts->verdict.reason);
	rowbinary_u32(row, facts->rules);
	put_referrer(row, click, facts, &utm);
	put_query(row, click, &utm, facts->max_text);
	put_cookies(row, click);
	rowbinary_string(row, click->prefetch,
			 strnlen(click->prefetch, PURPOSE_MAX));
}

/* --- links ---------------------------------------------------------------- */

static const char *change_name(Shortloop__LinkChange change)
{
	switch ((int)change) {
	case SHORTLOOP__LINK_CHANGE__LINK_CREATED:
		return "created";
	case SHORTLOOP__LINK_CHANGE__LINK_CHANGED:
		return "changed";
	case SHORTLOOP__LINK_CHANGE__LINK_REMOVED:
		return "removed";
	case SHORTLOOP__LINK_CHANGE__LINK_MODERATED:
		return "moderated";
	default:
		return "unspecified";
	}
}

/* DateTime64 ends in the year 2299; a link that lives longer ends there. */
static int64_t bounded_ms(uint64_t ms)
{
	const uint64_t max = UINT64_C(10413791999000);

	return (int64_t)(ms < max ? ms : max);
}

/* The columns that migration 0011 added. */
static void put_more(struct buf *row, const Shortloop__Link *link)
{
	put_text(row, link->description);
	put_text(row, link->account);
	put_text(row, link->creator);
	put_text(row, link->editor);
	rowbinary_count(row, link->n_targets);
	for (size_t i = 0; i < link->n_targets; i++) {
		put_text(row, link_device_name(link->targets[i]->device));
		put_text(row, link->targets[i]->url);
	}
	rowbinary_i64(row, bounded_ms(link->not_before_ms));
	rowbinary_u64(row, link->max_visits);
}

void row_append_link(struct buf *row, const struct row_origin *origin,
		     const Shortloop__LinkEvent *e)
{
	const Shortloop__Link *link = e->link;

	put_text(row, e->code);
	rowbinary_u64(row, link->link_id);
	rowbinary_u32(row, link->version);
	put_text(row, e->space);
	rowbinary_u32(row, link->generation);
	put_text(row, change_name(e->change));
	put_text(row, link_state_name(link->state));
	put_text(row, link->ttl_class);
	rowbinary_i64(row, bounded_ms(link->created_ms));
	rowbinary_i64(row, bounded_ms(e->time_ms));
	rowbinary_i64(row, bounded_ms(e->expires_ms));
	put_text(row, link->url);
	rowbinary_u16(row, (uint16_t)link->redirect_status);
	put_text(row, link->owner);
	put_text(row, link->campaign);
	rowbinary_count(row, link->n_tags);
	for (size_t i = 0; i < link->n_tags; i++)
		put_text(row, link->tags[i]);
	put_text(row, link->domain);
	put_more(row, link);
	rowbinary_u32(row, origin->epoch);
	put_text(row, origin->event->topic);
	rowbinary_u32(row, origin->event->partition);
	rowbinary_u64(row, origin->event->offset);
}
