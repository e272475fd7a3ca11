/*
 * row.h - writes rows of the tables clicks and links in RowBinary, from events
 * and the facts found about them.  Their columns are in
 * schemas/click_columns.inc and schemas/link_columns.inc.
 */
#ifndef COLLECTOR_ENRICH_ROW_H
#define COLLECTOR_ENRICH_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/enrich/agent.h"
#include "collector/enrich/event.h"
#include "collector/enrich/identity.h"
#include "collector/enrich/place.h"
#include "collector/enrich/referrer_site.h"
#include "collector/enrich/sources.h"
#include "collector/enrich/verdict_rules.h"
#include "common/agent/verdict.h"
#include "common/buf.h"
#include "schemas/click.pb-c.h"
#include "schemas/link.pb-c.h"

/* The columns of a row of clicks, in the format of
 * common/clickhouse/columns.h. */
extern const char row_click_columns[];
/* The statement that inserts rows of links. */
extern const char row_insert_links[];
/* The statement that inserts rows of created_links. */
extern const char row_insert_creations[];

struct row_origin {
	uint32_t epoch;
	const struct event_origin *event;
};

/* The facts about a click that are not in the click itself. */
struct click_facts {
	int64_t ts;
	/* If not, the address is all zeros, and there is no place. */
	bool has_ip;
	uint8_t ip[16]; /* used for searches */
	uint8_t stored_ip[16];
	unsigned char identity[IDENTITY_LEN];
	struct agent agent;
	struct verdict verdict;
	/* The operator's rule that decided the verdict; NULL: no rule, and
	 * bursts may change it. */
	const struct verdict_rule *rule;
	uint32_t rules; /* number of the verdict's rules */
	/* The visitor is forgotten, alone or with the link: the row has what
	 * schemas/click_columns.inc leaves. */
	bool forgotten;
	bool link_forgotten;
	size_t max_text;
	struct place_lookup *places;
	const struct sources *sources;
	struct site_lookup *sites;
};

void row_append_click(struct buf *row, const struct row_origin *origin,
		      const Shortloop__Click *click,
		      const struct click_facts *facts);
/* A forgotten link keeps code, link_id and version, and what is needed to reuse
 * the code: no URL, no text, no person's name. */
void row_append_link(struct buf *row, const struct row_origin *origin,
		     const Shortloop__LinkEvent *event, bool forgotten);

/* The row of created_links for the event of a creation.  Like a click, it keeps
 * account and owner when the link is forgotten: counts have them. */
void row_append_creation(struct buf *row, const Shortloop__LinkEvent *event);
/* Returns the quarter of an hour (seconds since 1970) of the row. */
uint32_t row_creation_slot(const Shortloop__Link *link);

#endif
