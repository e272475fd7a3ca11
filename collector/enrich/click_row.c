/* click_row.c - Click to a row of the table clicks. */
#include <string.h>

#include "collector/enrich/channel.h"
#include "collector/enrich/language.h"
#include "collector/enrich/referrer.h"
#include "collector/enrich/row.h"
#include "collector/enrich/utm.h"
#include "common/clickhouse/rowbinary.h"

/* Longer than any that means something. */
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

void click_row_append(struct buf *row, const struct row_origin *origin,
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
