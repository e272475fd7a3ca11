/*
 * row.h - rows of the tables clicks and links in RowBinary, and what is found
 * out for them.  Their columns stand in click_columns.inc and link_columns.inc.
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
#include "collector/enrich/verdict_rules.h"
#include "common/agent/verdict.h"
#include "common/buf.h"
#include "schemas/click.pb-c.h"
#include "schemas/link.pb-c.h"

/* The columns of a row of clicks, described as common/clickhouse/columns.h has
 * it. */
extern const char row_click_columns[];
/* The statement that inserts rows of links. */
extern const char row_insert_links[];

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
	/* The operator's rule that it is by; NULL: by none, and bursts may
	 * change it. */
	const struct verdict_rule *rule;
	uint32_t rules; /* that the verdict is by */
	/* Nothing is to be told of the visitor; the agent is not looked at. */
	bool forgotten;
	size_t max_text;
	struct place_lookup *places;
	const struct sources *sources;
};

void row_append_click(struct buf *row, const struct row_origin *origin,
		      const Shortloop__Click *click,
		      const struct click_facts *facts);
/* Of one that is forgotten code, link_id and version stay, and what is needed
 * to give the code out again: no URL, no text, nobody's name. */
void row_append_link(struct buf *row, const struct row_origin *origin,
		     const Shortloop__LinkEvent *event, bool forgotten);

#endif
