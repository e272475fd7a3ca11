/*
 * Values of the dimensions that hours are not settled by (DIMENSION_DAILY), by
 * UTC day: of all links in day_values, of each owner in owner_values
 * (schemas/clickhouse/day_values.sql).  Counts, no visitors.
 */
#include <inttypes.h>

#include "aggregator/dimension.h"
#include "aggregator/settle/day_copy.h"
#include "aggregator/settle/derived_tables.h"
#include "aggregator/settle/dropped.h"
#include "aggregator/settle/owner_values.h"
#include "aggregator/settle/settle_sql.h"

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
static void put_settled(struct buf *sql, const struct day_copy *c)
{
	(void)c;
	buf_puts(sql, "(SELECT sum(events) FROM " SQL_PUBLISHED_TOTALS ")");
}

static const char *rows_of(const struct day_copy *c)
{
	return c->dropped ? SQL_BESIDE : "clicks WHERE " SQL_RANGE;
}

static void put_source(struct buf *sql, const struct day_copy *c)
{
	buf_printf(sql, "(SELECT count() FROM %s)", rows_of(c));
	if (c->dropped)
		buf_puts(sql, " + " SQL_BASE_EVENTS);
}

#define SQL_SUMS(of) "SELECT sum(events) AS n, " of " AS is_of_owners FROM "

/* Each event is in each dimension of day_values once, and each event of a link
 * in each dimension of owner_values. */
static void put_staged(struct buf *sql, const struct day_copy *c)
{
	size_t count = count_kept();

	(void)c;
	buf_printf(sql,
		   "(SELECT multiIf(sum(n) = 0, 0, "
		   "countIf(NOT is_of_owners) = %zu AND "
		   "minIf(n, NOT is_of_owners) = maxIf(n, NOT is_of_owners) "
		   "AND minIf(n, is_of_owners) = maxIf(n, is_of_owners) "
		   "AND sumIf(n, is_of_owners) = %zu * " DAY_COPY_LINK_EVENTS
		   ", minIf(n, NOT is_of_owners), %" PRIu64
		   ") FROM (" SQL_SUMS("true") OWNER_VALUES_STAGED
		   "GROUP BY dimension UNION ALL " SQL_SUMS(
			   "false") "day_values WHERE day = " SQL_DAY
				    " AND attempt = {attempt:UInt64} GROUP BY "
				    "dimension))",
		   count, count, SETTLE_SQL_UNEVEN);
}

/* --- staging ----------------------------------------------------------------
 */

/* Values beyond the busiest, and values that the base no longer has, become one
 * row. */
static void put_values(struct buf *sql, const struct day_copy *c,
		       const struct dimension *d)
{
	buf_printf(sql,
		   "SELECT '%s', " SQL_DAY ", {attempt:UInt64}, "
		   "if(is_rest, '', v) AS shown, is_rest, sum(n), sum(c), "
		   "sum(b), sum(p) FROM (SELECT *, was_rest OR row_number() "
		   "OVER (PARTITION BY was_rest ORDER BY n DESC, v) > "
		   "{most:UInt64} AS is_rest FROM (SELECT v, was_rest, "
		   "sum(en) AS n, sum(ec) AS c, sum(eb) AS b, sum(ep) AS p "
		   "FROM (SELECT v, false AS was_rest, n AS en, c AS ec, "
		   "b AS eb, p AS ep FROM (SELECT %s AS v, " DAY_COPY_COUNTS
		   " FROM %s GROUP BY v)",
		   d->name, d->expression, rows_of(c));
	if (c->dropped) {
		buf_puts(sql, " UNION ALL SELECT value AS v, rest AS was_rest, "
			      "events AS en, clicks AS ec, bots AS eb, "
			      "prefetches AS ep FROM day_values WHERE "
			      "day = " SQL_DAY " AND attempt = ");
		owner_values_put_base(sql, c);
		buf_printf(sql, " AND dimension = '%s'", d->name);
	}
	buf_puts(sql, ") GROUP BY v, was_rest)) GROUP BY shown, is_rest");
}

static int stage_value_tables(struct day_copy *c, struct error *err)
{
	static const char into[] =
		"INSERT INTO day_values (dimension, day, attempt, value, rest, "
		"events, clicks, bots, prefetches) ";

	if (owner_values_run(c, into, put_values, is_kept, err) < 0)
		return -1;
	return owner_values_stage(c, is_kept, err);
}

const struct copy_statements value_statements = {
	.put_settled = put_settled,
	.put_source = put_source,
	.put_staged = put_staged,
	.stage = stage_value_tables,
};
