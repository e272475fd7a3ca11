/*
 * links_sql.h - the queries behind GET /v1/links.
 *
 * Rows of `links` are versions of a link, and a merge leaves the newest.  So a
 * page takes two steps.  The first step picks candidates: rows of any version
 * that pass the filters, in the order of the list, as many as requested.  The
 * second step reads the newest version of each, and of the other links of its
 * code, and evaluates the filters on it.  No link is missed, since each newest
 * version is a row too.  A candidate that fails costs only its place in the
 * page.
 */
#ifndef AGGREGATOR_API_LINKS_LINKS_SQL_H
#define AGGREGATOR_API_LINKS_LINKS_SQL_H

#include "aggregator/api/links/links_params.h"
#include "aggregator/api/links/links_query.h"
#include "common/buf.h"
#include "common/clickhouse/rows.h"

/*
 * A page: one row 'picked' with the number of candidates and the number and
 * link_id of the last one, and a row 'link' for each link of the candidates, in
 * the order of the list.
 */
void links_sql_page(struct buf *sql, const struct links_query *q,
		    const struct links_scan *scan);
#define LINKS_SQL_COLUMNS                                                      \
	"snnnnnnnnn"                                                           \
	"sssssssssssssss"                                                      \
	"nnnnnnnnnn"

enum links_column {
	LINKS_ROW_KIND,
	LINKS_ROW_NUMBER, /* the place's, or the last candidate's */
	LINKS_ROW_LINK_ID,
	LINKS_ROW_PICKED, /* in the row 'picked' */
	LINKS_ROW_MATCHES,
	LINKS_ROW_CURRENT,
	LINKS_ROW_CLICKS,
	LINKS_ROW_HUMANS,
	LINKS_ROW_BOTS,
	LINKS_ROW_PREFETCHES,
	LINKS_ROW_CODE,
	LINKS_ROW_URL,
	LINKS_ROW_STATE,
	LINKS_ROW_SPACE,
	LINKS_ROW_TTL,
	LINKS_ROW_DESCRIPTION,
	LINKS_ROW_OWNER,
	LINKS_ROW_ACCOUNT,
	LINKS_ROW_CAMPAIGN,
	LINKS_ROW_DOMAIN,
	LINKS_ROW_CREATOR,
	LINKS_ROW_EDITOR,
	LINKS_ROW_TAGS,	   /* JSON */
	LINKS_ROW_TARGETS, /* JSON */
	LINKS_ROW_PASS_QUERY,
	LINKS_ROW_PASS_PATH,
	LINKS_ROW_GENERATION,
	LINKS_ROW_VERSION,
	LINKS_ROW_REDIRECT_STATUS,
	LINKS_ROW_CREATED_AT,
	LINKS_ROW_CHANGED_AT,
	LINKS_ROW_EXPIRES_AT,
	LINKS_ROW_NOT_BEFORE,
	LINKS_ROW_MAX_VISITS,
	LINKS_ROW_RECLAIMED_AT,
	LINKS_ROW_COUNT,
};
_Static_assert(sizeof(LINKS_SQL_COLUMNS) - 1 == LINKS_ROW_COUNT &&
		       (int)LINKS_ROW_COUNT <= (int)CLICKHOUSE_FIELDS_MAX,
	       "each column has its letter, and they can be read");

/* Counts the links, but no more than the candidates of the scan. */
void links_sql_total(struct buf *sql, const struct links_query *q);

/* Selects the time of creation (ms) of the row that has `candidates` rows
 * between it and the scan's start; no row if there are fewer. */
void links_sql_window(struct buf *sql, const struct links_query *q);

#endif
