/*
 * Clicks of owners by UTC day, in tables of their own
 * (schemas/clickhouse/owner_slots.sql): by slot with visitors, and by the
 * values of each settled dimension.
 */
#include "aggregator/dimension.h"
#include "aggregator/settle/day_copy.h"
#include "aggregator/settle/derived_tables.h"
#include "aggregator/settle/owner_values.h"
#include "common/clickhouse/statement.h"

/* owner_slots covers `total`; links are filtered by parameters of their own. */
static bool is_kept(const struct dimension *d)
{
	return d != dimensions && d->kind != DIMENSION_DAILY;
}

/* --- staged events ---------------------------------------------------------
 */

/* An event is in each dimension once; in a dimension of many values it is there
 * once for each value. */
static void put_staged(struct buf *sql, const struct day_copy *c)
{
	static const char of_rows[] =
#include "aggregator/sql/expressions/staged_owners.sql.inc"
		;
	static const char of_dropped[] =
#include "aggregator/sql/expressions/staged_owners_dropped.sql.inc"
		;
	struct buf count = {0};
	unsigned number = 1;

	for (size_t i = 0; i < dimension_count; i++)
		number += is_kept(&dimensions[i]) &&
			  dimensions[i].kind != DIMENSION_MANY;
	buf_put_uint(&count, number);

	const struct statement_blank blanks[] = {
		{"count", statement_piece(sql, &count)},
		{"many", dimension_of_many()->name},
		{"base", c->kind->base},
		{NULL, NULL}};

	statement_put(sql, c->dropped ? of_dropped : of_rows, blanks);
	buf_free(&count);
}

/* --- staging ----------------------------------------------------------------
 */

static void put_slots(struct buf *sql, const struct day_copy *c)
{
	static const char of_rows[] =
#include "aggregator/sql/owner_slots.sql.inc"
		;
	static const char of_dropped[] =
#include "aggregator/sql/owner_slots_dropped.sql.inc"
		;
	const struct statement_blank blanks[] = {{"base", c->kind->base},
						 {NULL, NULL}};

	statement_put(sql, c->dropped ? of_dropped : of_rows, blanks);
}

static int stage_owner_tables(struct day_copy *c, struct error *err)
{
	struct buf sql = {0};
	int status;

	put_slots(&sql, c);
	status = day_copy_run(c, &sql, err);
	buf_free(&sql);
	return status < 0 ? -1 : owner_values_stage(c, is_kept, err);
}

const struct copy_statements owner_statements = {
	.settled = day_copy_settled_links,
	.source = day_copy_source_links,
	.dropped_source = day_copy_source_links_dropped,
	.put_staged = put_staged,
	.stage = stage_owner_tables,
};
