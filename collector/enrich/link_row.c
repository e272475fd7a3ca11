/* link_row.c - LinkEvent to a row of the table links. */
#include <string.h>

#include "collector/enrich/row.h"
#include "common/clickhouse/rowbinary.h"
#include "linkstore/link/names.h"

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

static void put_text(struct buf *row, const char *text)
{
	rowbinary_string(row, text, strlen(text));
}

/* What a link says beyond its URL, as migration 0011 has it. */
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

void link_row_append(struct buf *row, const struct row_origin *origin,
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
