/*
 * row.h - rows of the tables clicks and links in RowBinary, column by column in
 * the order of schemas/clickhouse/, and what is found out for them.
 */
#ifndef COLLECTOR_ENRICH_ROW_H
#define COLLECTOR_ENRICH_ROW_H

#include <stdint.h>

#include "collector/enrich/agent.h"
#include "collector/enrich/enricher.h"
#include "collector/enrich/identity.h"
#include "collector/enrich/place.h"
#include "common/buf.h"
#include "schemas/click.pb-c.h"
#include "schemas/link.pb-c.h"

/* The columns of the tables, for "INSERT INTO clicks (...)": a table that has
 * got more of them still fits. */
#define CLICK_COLUMNS                                                          \
	"epoch, topic, partition, offset, append_time, event_id, ts, "         \
	"original_ts, edge, domain, code, link_id, owner, campaign, tags, "    \
	"outcome, status, maybe_sent, ip, unique_identity, continent, "        \
	"country, region, city, postal_code, latitude, longitude, "            \
	"accuracy_radius, time_zone, asn, as_org, user_agent, ua_family, "     \
	"ua_version, "                                                         \
	"os_family, os_version, device_family, device_brand, device_model, "   \
	"device_class, verdict, verdict_reason, verdict_version, referrer, "   \
	"referrer_host, channel, language, query, utm_source, utm_medium, "    \
	"utm_campaign, utm_term, utm_content, cookies, purpose"
#define LINK_COLUMNS                                                           \
	"code, link_id, version, space, generation, change, state, "           \
	"ttl_class, created_at, changed_at, expires_at, url, "                 \
	"redirect_status, owner, campaign, tags, domain, description, "        \
	"creator, "                                                            \
	"editor, targets, not_before, max_visits, epoch, topic, partition, "   \
	"offset"

struct row_origin {
	uint32_t epoch;
	const struct event_origin *event;
};

/* What was found out about a click beside what it says itself. */
struct click_facts {
	int64_t ts;
	uint8_t ip[16];
	unsigned char identity[IDENTITY_LEN];
	struct agent agent;
	struct verdict verdict;
	uint32_t rules; /* that the verdict is by */
	size_t max_text;
	struct place_lookup *places;
};

/* Finds out about a click what its row is to say.  Valid until the next call.
 * For those who show it rather than store it, too. */
int enricher_facts(struct enricher *e, const struct event_origin *origin,
		   const Shortloop__Click *click, struct click_facts *facts,
		   struct error *err);

void click_row_append(struct buf *row, const struct row_origin *origin,
		      const Shortloop__Click *click,
		      const struct click_facts *facts);
void link_row_append(struct buf *row, const struct row_origin *origin,
		     const Shortloop__LinkEvent *event);

#endif
