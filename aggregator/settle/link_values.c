/*
 * Values of each link by UTC day, which are left when its rows are dropped
 * (schemas/clickhouse/link_values.sql).  Counts, no visitors.
 */
#include "aggregator/dimension.h"
#include "aggregator/settle/day_copy.h"
#include "aggregator/settle/derived_tables.h"
#include "aggregator/settle/owner_values.h"
#include "common/clickhouse/statement.h"

/* link_days and sealed_slots cover `total`. */
static bool is_kept(const struct dimension *d)
{
	return d != dimensions;
}

/* --- staged events ---------------------------------------------------------
 */

static void put_tags(struct buf *sql, const struct day_copy *c)
{
	static const char of_rows[] =
#include "aggregator/sql/parts/tags_of_links.sql.inc"
		;
	static const char of_dropped[] =
#include "aggregator/sql/parts/tags_of_links_dropped.sql.inc"
		;
	const struct statement_blank blanks[] = {
		{"many", dimension_of_many()->name},
		{"base", c->kind->base},
		{NULL, NULL}};

	statement_put(sql, c->dropped ? of_dropped : of_rows, blanks);
}

/* An event is in each dimension once; in a dimension of many values it is there
 * once for each value. */
static void put_staged(struct buf *sql, const struct day_copy *c)
{
	static const char text[] =
#include "aggregator/sql/expressions/staged_link_values.sql.inc"
		;
	struct buf count = {0}, tags = {0};
	unsigned number = 0;

	for (size_t i = 0; i < dimension_count; i++)
		number += is_kept(&dimensions[i]) &&
			  dimensions[i].kind != DIMENSION_MANY;
	buf_put_uint(&count, number);
	put_tags(&tags, c);

	const struct statement_blank blanks[] = {
		{"count", statement_piece(sql, &count)},
		{"many", dimension_of_many()->name},
		{"tags", statement_piece(sql, &tags)},
		{NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&count);
	buf_free(&tags);
}

/* --- staging ----------------------------------------------------------------
 */

/* Values beyond the busiest of a link, and those that the base no longer has,
 * become one row. */
static void put_values(struct buf *sql, const struct day_copy *c,
		       const struct dimension *d)
{
	static const char of_rows[] =
#include "aggregator/sql/link_values.sql.inc"
		;
	static const char of_dropped[] =
#include "aggregator/sql/link_values_dropped.sql.inc"
		;
	owner_values_put(sql, c, d, c->dropped ? of_dropped : of_rows);
}

static int stage_link_values(struct day_copy *c, struct error *err)
{
	static const char into[] =
#include "aggregator/sql/parts/into_link_values.sql.inc"
		;

	return owner_values_run(c, into, put_values, is_kept, err);
}

const struct copy_statements link_value_statements = {
	.settled = day_copy_settled_links,
	.source = day_copy_source_links,
	.dropped_source = day_copy_source_links_dropped,
	.put_staged = put_staged,
	.stage = stage_link_values,
};
