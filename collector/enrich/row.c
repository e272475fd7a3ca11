#include "collector/enrich/row.h"

#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/enrich/channel.h"
#include "collector/enrich/language.h"
#include "collector/enrich/referrer.h"
#include "collector/enrich/utm.h"
#include "common/clickhouse/rowbinary.h"
#include "common/registrable_domain.h"
#include "common/url_digest.h"
#include "linkstore/link/names.h"
#include "linkstore/visit/link_hosts.h"

static void put_text(struct buf *row, const char *text)
{
	rowbinary_string(row, text, strlen(text));
}

static void put_cut(struct buf *row, ProtobufCBinaryData data, size_t max)
{
	rowbinary_string(row, data.data, data.len < max ? data.len : max);
}

static void put_texts(struct buf *row, char *const *texts, size_t count)
{
	rowbinary_count(row, count);
	for (size_t i = 0; i < count; i++)
		put_text(row, texts[i]);
}

/* --- clicks --------------------------------------------------------------- */

const char row_click_columns[] =
#define FIRST(name, type, left, write)	#name " " type
#define COLUMN(name, type, left, write) ", " #name " " type
#define RUN(name, type, left, write)	"; " #name " " type
#define PLACE(name, type, left, write)	COLUMN(name, type, left, write)
#define AGENT(name, type, left, write)	COLUMN(name, type, left, write)
#include "schemas/click_columns.inc"
	;

/* No valid value is longer. */
#define PURPOSE_MAX 64

#define TRACE_ID_SIZE 16 /* bytes */

static void put_event_id(struct buf *row, const Shortloop__Click *click)
{
	rowbinary_u64(row, click->event_id_high);
	rowbinary_u64(row, click->event_id);
}

/* The column's enumeration has these values; a later one is stored as
 * unspecified. */
static uint8_t outcome_of(const Shortloop__Click *click)
{
	int outcome = (int)click->outcome;

	return outcome > SHORTLOOP__OUTCOME__OUTCOME_HEAD || outcome < 0
		       ? 0
		       : (uint8_t)outcome;
}

/* A digest of another length is none. */
static void put_url_digest(struct buf *row, const Shortloop__Click *click)
{
	static const unsigned char none[URL_DIGEST_SIZE];

	rowbinary_fixed(row,
			click->url_digest.len == URL_DIGEST_SIZE
				? click->url_digest.data
				: none,
			URL_DIGEST_SIZE);
}

static void put_utm(struct buf *row, const struct utm *utm, int field)
{
	rowbinary_string(row, utm->text[field], utm->len[field]);
}

static void put_purpose(struct buf *row, const Shortloop__Click *click)
{
	rowbinary_string(row, click->prefetch,
			 strnlen(click->prefetch, PURPOSE_MAX));
}

/* Findings in the texts of a click. */
struct click_findings {
	struct utm utm;
	struct referrer referrer;
	char language[LANGUAGE_MAX + 1];
};

static void put_channel(struct buf *row, const struct click_facts *facts,
			const struct click_findings *found)
{
	put_text(row, channel_of_visit(&found->utm, found->referrer.channel,
				       facts->sources));
}

static void put_cookies(struct buf *row, const Shortloop__Click *click)
{
	rowbinary_count(row, click->n_cookies);
	for (size_t i = 0; i < click->n_cookies; i++) {
		put_text(row, click->cookies[i]->key);
		put_text(row, click->cookies[i]->value);
	}
}

/* Writes the id in the usual form, so that it can be searched in other systems;
 * "" for none. */
static void put_trace_id(struct buf *row, const Shortloop__Click *click)
{
	char hex[2 * TRACE_ID_SIZE + 1];

	if (click->trace_id.len != TRACE_ID_SIZE) {
		rowbinary_string(row, "", 0);
		return;
	}
	sodium_bin2hex(hex, sizeof(hex), click->trace_id.data, TRACE_ID_SIZE);
	rowbinary_string(row, hex, sizeof(hex) - 1);
}

static void put_whole_click(struct buf *row, const struct row_origin *origin,
			    const Shortloop__Click *click,
			    const struct click_facts *facts,
			    const struct click_findings *found)
{
#define COLUMN(name, type, left, write) write;
#define RUN(name, type, left, write)	write;
#define COPY(write)			write;
#include "schemas/click_columns.inc"
}

/* Writes what forgetting leaves of a column; returns false if that is its
 * value. */
static bool put_left(struct buf *row, const char *type, const char *left)
{
	if (left)
		rowbinary_default(row, type, left);
	return left;
}

static void put_forgotten_click(struct buf *row,
				const struct row_origin *origin,
				const Shortloop__Click *click,
				const struct click_facts *facts,
				const struct click_findings *found)
{
#define OF_LINK(text) (facts->link_forgotten ? (text) : NULL)
#define COLUMN(name, type, left, write)                                        \
	if (!put_left(row, type, left)) {                                      \
		write;                                                         \
	}
#define RUN(name, type, left, write)   COLUMN(name, type, left, write)
#define PLACE(name, type, left, write) rowbinary_default(row, type, left);
#define AGENT(name, type, left, write) rowbinary_default(row, type, left);
#include "schemas/click_columns.inc"
}

void row_append_click(struct buf *row, const struct row_origin *origin,
		      const Shortloop__Click *click,
		      const struct click_facts *facts)
{
	struct click_findings found;

	utm_parse((const char *)click->query.data, click->query.len,
		  &found.utm);
	referrer_parse((const char *)click->referrer.data, click->referrer.len,
		       click->domain, facts->sources, &found.referrer);
	language_parse((const char *)click->accept_language.data,
		       click->accept_language.len, found.language);
	if (facts->forgotten)
		put_forgotten_click(row, origin, click, facts, &found);
	else
		put_whole_click(row, origin, click, facts, &found);
}

/* --- links ---------------------------------------------------------------- */

const char row_insert_links[] = "INSERT INTO links ("
#define FIRST(name, type, left, write)	#name
#define COLUMN(name, type, left, write) ", " #name
#include "schemas/link_columns.inc"
				") FORMAT RowBinary";

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
	case SHORTLOOP__LINK_CHANGE__LINK_RESTORED:
		return "restored";
	default:
		return "unspecified";
	}
}

static bool opens_app(const Shortloop__Target *target)
{
	return *target->app || *target->mini_program;
}

static size_t count_urls(const Shortloop__Link *link)
{
	size_t count = link->n_targets;

	for (size_t i = 0; i < link->n_targets; i++)
		count += opens_app(link->targets[i]);
	return count;
}

/* The app that a page opens is stored beside its device's URL, which is its
 * fallback: "ios_app", "wechat_mini_program". */
static void put_opened(struct buf *row, const char *device,
		       const Shortloop__Target *target)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_%s", device,
		 *target->app ? "app" : "mini_program");
	put_text(row, name);
	put_text(row, *target->app ? target->app : target->mini_program);
}

static void put_targets(struct buf *row, const Shortloop__Link *link)
{
	rowbinary_count(row, count_urls(link));
	for (size_t i = 0; i < link->n_targets; i++) {
		const char *device = link_device_name(link->targets[i]->device);

		put_text(row, device);
		put_text(row, link->targets[i]->url);
		if (opens_app(link->targets[i]))
			put_opened(row, device, link->targets[i]);
	}
}

static void put_digest_of(struct buf *row, const char *url)
{
	unsigned char digest[URL_DIGEST_SIZE];

	url_digest(url, strlen(url), digest);
	rowbinary_fixed(row, digest, sizeof(digest));
}

static void put_url_digests(struct buf *row, const Shortloop__Link *link)
{
	rowbinary_count(row, 1 + link->n_targets);
	put_digest_of(row, link->url);
	for (size_t i = 0; i < link->n_targets; i++)
		put_digest_of(row, link->targets[i]->url);
}

static int compare_domains(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, each once. */
static void put_target_hosts(struct buf *row, const Shortloop__Link *link)
{
	struct host hosts[LINK_URLS_MAX];
	const char *domains[LINK_URLS_MAX] = {NULL};
	size_t count = link_hosts(link, hosts), kept = 0;

	for (size_t i = 0; i < count; i++)
		domains[i] = registrable_domain(&hosts[i]);
	qsort(domains, count, sizeof(*domains), compare_domains);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || strcmp(domains[i], domains[kept - 1]) != 0)
			domains[kept++] = domains[i];
	rowbinary_count(row, kept);
	for (size_t i = 0; i < kept; i++)
		put_text(row, domains[i]);
}

static void put_whole_link(struct buf *row, const struct row_origin *origin,
			   const Shortloop__LinkEvent *event)
{
	const Shortloop__Link *link = event->link;

#define COLUMN(name, type, left, write) write;
#include "schemas/link_columns.inc"
}

static void put_forgotten_link(struct buf *row, const struct row_origin *origin,
			       const Shortloop__LinkEvent *event)
{
	const Shortloop__Link *link = event->link;

#define COLUMN(name, type, left, write)                                        \
	if (!put_left(row, type, left)) {                                      \
		write;                                                         \
	}
#include "schemas/link_columns.inc"
}

void row_append_link(struct buf *row, const struct row_origin *origin,
		     const Shortloop__LinkEvent *event, bool forgotten)
{
	if (forgotten)
		put_forgotten_link(row, origin, event);
	else
		put_whole_link(row, origin, event);
}

/* --- creations ------------------------------------------------------------ */

enum {
	SLOT_SECONDS = 900
};

const char row_insert_creations[] =
	"INSERT INTO created_links (slot, link_id, space, code_length, "
	"ttl_class, account, owner, domain, source) FORMAT RowBinary";

uint32_t row_creation_slot(const Shortloop__Link *link)
{
	uint64_t seconds = link->created_ms / 1000;

	if (seconds > UINT32_MAX)
		seconds = UINT32_MAX;
	return (uint32_t)(seconds / SLOT_SECONDS * SLOT_SECONDS);
}

void row_append_creation(struct buf *row, const Shortloop__LinkEvent *event)
{
	const Shortloop__Link *link = event->link;
	size_t length = strlen(event->code);

	rowbinary_u32(row, row_creation_slot(link));
	rowbinary_u64(row, link->link_id);
	put_text(row, event->space);
	rowbinary_u8(row, length < UINT8_MAX ? (uint8_t)length : UINT8_MAX);
	put_text(row, link->ttl_class);
	put_text(row, link->account);
	put_text(row, link->owner);
	put_text(row, link->domain);
	put_text(row, link_source_name(link->source));
}
