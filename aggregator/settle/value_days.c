/*
 * Values of the dimensions that hours are not settled by (DIMENSION_DAILY), by
 * UTC day: of all links in day_values, of each owner in owner_values
 * (schemas/clickhouse/day_values.sql).  Counts, no visitors.
 */
#include "aggregator/dimension.h"
#include "aggregator/settle/day_copy.h"
#include "aggregator/settle/derived_tables.h"
#include "aggregator/settle/owner_values.h"
#include "common/clickhouse/statement.h"

static bool is_kept(const struct dimension *d)
{
	return d->kind == DIMENSION_DAILY;
}

static size_t count_kept(void)
{
	size_t count = 0;

	for (size_t i = 0; i < dimension_count; i++)
		count += is_kept(&dimensions[i]);
	return count;
}

/* --- staged events ---------------------------------------------------------
 */

/* Rows without a link are copied, too: the day's settled events are those of
 * its hours. */
static const char source[] =
#include "aggregator/sql/expressions/source_of_values.sql.inc"
	;
static const char dropped_source[] =
#include "aggregator/sql/expressions/source_of_values_dropped.sql.inc"
	;

/* Each event is in each dimension of day_values once, and each event of a link
 * in each dimension of owner_values. */
static void put_staged(struct buf *sql, const struct day_copy *c)
{
	static const char text[] =
#include "aggregator/sql/expressions/staged_values.sql.inc"
		;
	struct buf count = {0};

	(void)c;
	buf_put_uint(&count, count_kept());

	const struct statement_blank blanks[] = {
		{"count", statement_piece(sql, &count)}, {NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&count);
}

/* --- staging ----------------------------------------------------------------
 */

/* Values beyond the busiest, and values that the base no longer has, become one
 * row. */
static void put_values(struct buf *sql, const struct day_copy *c,
		       const struct dimension *d)
{
	static const char of_rows[] =
#include "aggregator/sql/day_values.sql.inc"
		;
	static const char of_dropped[] =
#include "aggregator/sql/day_values_dropped.sql.inc"
		;
	owner_values_put(sql, c, d, c->dropped ? of_dropped : of_rows);
}

static int stage_value_tables(struct day_copy *c, struct error *err)
{
	static const char into[] =
#include "aggregator/sql/parts/into_day_values.sql.inc"
		;

	if (owner_values_run(c, into, put_values, is_kept, err) < 0)
		return -1;
	return owner_values_stage(c, is_kept, err);
}

const struct copy_statements value_statements = {
	.settled = day_copy_settled_hours,
	.source = source,
	.dropped_source = dropped_source,
	.put_staged = put_staged,
	.stage = stage_value_tables,
};
