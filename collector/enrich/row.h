/*
 * row.h - rows of the tables clicks and links in RowBinary, column by column in
 * the order of schemas/clickhouse/, and what is found out for them.
 */
#ifndef COLLECTOR_ENRICH_ROW_H
#define COLLECTOR_ENRICH_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/enrich/agent.h"
#include "collector/enrich/event.h"
#include "collector/enrich/identity.h"
#include "collector/enrich/place.h"
#include "collector/enrich/sources.h"
#include "collector/enrich/verdict.h"
#include "common/buf.h"
#include "schemas/click.pb-c.h"
#include "schemas/link.pb-c.h"

/* What is sent of the tables' columns, as common/clickhouse/columns.h has it: a
 * table that has got more of them still fits.  A semicolon ends a run of texts
 * that mostly repeat together. */
#define WORD "LowCardinality(String)"
#define CLICK_COLUMNS                                                          \
	"epoch UInt32, topic " WORD ", partition UInt32, "                     \
	"offset UInt64, append_time DateTime64(3, 'UTC'), "                    \
	"event_id UUID, ts DateTime64(3, 'UTC'), "                             \
	"original_ts DateTime64(3, 'UTC'), edge " WORD ", "                    \
	"domain " WORD ", code String, link_id UInt64, owner " WORD ", "       \
	"campaign " WORD ", tags Array(" WORD "), outcome Int8, "              \
	"status UInt16, maybe_sent Bool, ip IPv6, "                            \
	"unique_identity FixedString(20), continent " WORD ", "                \
	"country " WORD ", region " WORD ", city " WORD ", "                   \
	"postal_code " WORD ", latitude Float32, longitude Float32, "          \
	"accuracy_radius UInt16, time_zone " WORD ", asn UInt32, "             \
	"as_org " WORD "; user_agent " WORD ", ua_family " WORD ", "           \
	"ua_version " WORD ", os_family " WORD ", os_version " WORD ", "       \
	"device_family " WORD ", device_brand " WORD ", "                      \
	"device_model " WORD ", device_class " WORD ", verdict Int8, "         \
	"verdict_reason " WORD ", verdict_version UInt32, "                    \
	"referrer String, referrer_host " WORD ", channel " WORD "; "          \
	"language " WORD ", query String, utm_source " WORD ", "               \
	"utm_medium " WORD ", utm_campaign " WORD ", "                         \
	"utm_term " WORD ", utm_content " WORD ", "                            \
	"cookies Map(" WORD ", String), purpose " WORD
/* For "INSERT INTO links (...)". */
#define LINK_COLUMNS                                                           \
	"code, link_id, version, space, generation, change, state, "           \
	"ttl_class, created_at, changed_at, expires_at, url, "                 \
	"redirect_status, owner, campaign, tags, domain, description, "        \
	"account, creator, "                                                   \
	"editor, targets, not_before, max_visits, epoch, topic, partition, "   \
	"offset"

struct row_origin {
	uint32_t epoch;
	const struct event_origin *event;
};

/* What was found out about a click beside what it says itself. */
struct click_facts {
	int64_t ts;
	bool has_ip;	/* else the address is all zeros, and no place */
	uint8_t ip[16]; /* to look up */
	uint8_t stored_ip[16];
	unsigned char identity[IDENTITY_LEN];
	struct agent agent;
	struct verdict verdict;
	uint32_t rules; /* that the verdict is by */
	size_t max_text;
	struct place_lookup *places;
	const struct sources *sources;
};

void row_append_click(struct buf *row, const struct row_origin *origin,
		      const Shortloop__Click *click,
		      const struct click_facts *facts);
void row_append_link(struct buf *row, const struct row_origin *origin,
		     const Shortloop__LinkEvent *event);

#endif
