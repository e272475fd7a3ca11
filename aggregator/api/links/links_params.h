/*
 * links_params.h - the parameters of the statements of links_sql.h: text from a
 * client goes to ClickHouse as these, and never into the SQL.
 */
#ifndef AGGREGATOR_API_LINKS_LINKS_PARAMS_H
#define AGGREGATOR_API_LINKS_LINKS_PARAMS_H

#include "aggregator/api/caller_params.h"
#include "aggregator/api/links/life_params.h"
#include "aggregator/api/links/links_query.h"
#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"

/* The candidates of a query. */
struct links_scan {
	struct links_place after;
	/* A window: links created between the place and this time.  It gives
	 * no candidates unless it has as many as requested.  0: no window, any
	 * time. */
	uint64_t window_ms;
	size_t candidates;
	/* The statement without a window uses the table's indexes, not the
	 * order of creation. */
	bool indexed;
};

#define LINKS_SQL_MEMORY "1000000000" /* bytes per query */

/* The parameters of a statement, and the memory that they point to. */
struct links_params {
	struct buf texts[LINKS_FILTER_COUNT];
	struct buf words_uri, url_uri; /* q and url as URIs */
	struct buf host_names;	       /* of url_host, and those above it */
	struct caller_params caller;
	struct life_params life;
	char numbers[14][24];
	struct clickhouse_param items[40];
};
int links_params_fill(struct links_params *p, const struct links_query *q,
		      const struct links_scan *scan, struct error *err);
void links_params_release(struct links_params *p);

/* Returns whether the text changes as a part of a URI: then the parameter q_uri
 * has that form. */
bool links_differs_as_uri(const char *text);

#endif
