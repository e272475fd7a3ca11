#include "aggregator/api/statistics/owner_sql.h"

#include "aggregator/api/statistics/clicks_sql.h"
#include "common/clickhouse/statement.h"

/*
 * IN takes a set of owners, for which the order of the tables is used.  Rows of
 * the rest have an empty value; the condition on it uses the table's order.
 *
 * Visitors are estimated from digests of 32 bits: of n, N (1 - exp(-n / N))
 * digests differ, with N = 2^32 (the classical occupancy problem).  Up to
 * 65,535 that is n itself; for a hundred million it is 1 % less, which would be
 * beyond the stated error.
 */
static const char clicks_of_owners[] =
#include "aggregator/sql/clicks_of_owners.sql.inc"
	;
/* One row per slot, with the sets of visitors and addresses. */
static const char open_slots[] =
#include "aggregator/sql/parts/open_slots_of_owners.sql.inc"
	;
/* One row per value and day. */
static const char grouped_values[] =
#include "aggregator/sql/parts/grouped_values_of_owners.sql.inc"
	;
static const char open_values[] =
#include "aggregator/sql/parts/open_values_of_owners.sql.inc"
	;

void owner_sql_clicks(struct buf *sql, const struct question *q,
		      const struct buckets *buckets,
		      const struct copied_days *days)
{
	static const struct clicks_sql_sets nobody = {"emptyArrayUInt32()",
						      "emptyArrayUInt32()"};
	const struct clicks_sql_sets *sets =
		q->apart ? &nobody : &clicks_sql_sets[q->bots];
	struct clicks_sql_interval by;
	struct buf open = {0}, groups = {0};

	clicks_sql_interval_fill(&by, "toUnixTimestamp(s)", buckets);
	clicks_sql_put_open_part(&open, open_slots, q, days, false);
	if (question_has_groups(q))
		clicks_sql_put_copied_values(&groups, q, grouped_values,
					     open_values, days, false);
	statement_put(sql, clicks_of_owners,
		      (const struct statement_blank[]){
			      {"answer_part", by.answer_part},
			      {"bucket", statement_piece(sql, &by.bucket)},
			      {"sets", by.sets},
			      {"visitors", sets->visitors},
			      {"addresses", sets->addresses},
			      {"open_slots", statement_piece(sql, &open)},
			      {"groups", statement_piece(sql, &groups)},
			      {NULL, NULL},
		      });
	clicks_sql_interval_release(&by);
	buf_free(&open);
	buf_free(&groups);
}

/* --- links ----------------------------------------------------------------
 */

static const char links_of_owners[] =
#include "aggregator/sql/parts/links_of_owners.sql.inc"
	;
static const char open_links[] =
#include "aggregator/sql/parts/open_links_of_owners.sql.inc"
	;
static const char links_left_out[] =
#include "aggregator/sql/links_of_owners_left_out.sql.inc"
	;

void owner_sql_links(struct buf *sql, const struct question *q,
		     const struct copied_days *days)
{
	struct buf open = {0};

	clicks_sql_put_open_part(&open, open_links, q, days, false);
	statement_put(sql, links_of_owners,
		      (const struct statement_blank[]){
			      {"open_links", statement_piece(sql, &open)},
			      {NULL, NULL},
		      });
	buf_free(&open);
}

void owner_sql_links_left_out(struct buf *sql)
{
	buf_puts(sql, links_left_out);
}
