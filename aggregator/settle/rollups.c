/*
 * Rollups: counts over all links by whole UTC days, and their totals by hour,
 * combined from the slots of stats_hourly (schemas/clickhouse/stats_spans.sql).
 */
#include <inttypes.h>

#include "aggregator/settle/day_copy.h"
#include "aggregator/settle/derived_tables.h"
#include "aggregator/settle/settle_sql.h"

/* Rows of stats_hourly that are published for the day. */
#define SQL_SOURCE "stats_hourly WHERE " SQL_IN_HOURS "AND " SQL_ARE_PUBLISHED

#define SQL_STAGED                                                             \
	"stats_spans WHERE span_start >= toDateTime({start:UInt32}, 'UTC') "   \
	"AND span_start < toDateTime({end:UInt32}, 'UTC') "                    \
	"AND attempt = {attempt:UInt64} "

static void put_settled(struct buf *sql, const struct day_copy *c)
{
	(void)c;
	buf_puts(sql, "(SELECT sum(events) FROM " SQL_PUBLISHED_TOTALS ")");
}

/* Each dimension must have as many events as its slots, and the hours as many
 * as the totals. */
static void put_staged(struct buf *sql, const struct day_copy *c)
{
	(void)c;
	buf_printf(
		sql,
		"(SELECT if(countIf(a != b) > 0, %" PRIu64
		", sumIf(a, m = 'total')) FROM (SELECT m, sum(x) AS a, "
		"sum(y) AS b FROM ("
		"SELECT if(span = 3600, 'hours', toString(dimension)) AS m, "
		"sum(events) AS x, toUInt64(0) AS y FROM " SQL_STAGED
		"GROUP BY m UNION ALL "
		"SELECT toString(dimension) AS m, toUInt64(0) AS x, "
		"sum(events) AS y FROM " SQL_SOURCE "GROUP BY m UNION ALL "
		"SELECT 'hours' AS m, toUInt64(0) AS x, sum(events) AS y FROM "
		"" SQL_SOURCE "AND dimension = 'total') GROUP BY m))",
		SETTLE_SQL_UNEVEN);
}

#define SQL_UNITED                                                             \
	"sum(events), sum(clicks), sum(bots), sum(prefetches), "               \
	"uniqCombined64MergeState(14)(visitors), "                             \
	"uniqCombined64MergeState(14)(ips), "                                  \
	"uniqCombined64MergeState(14)(human_visitors), "                       \
	"uniqCombined64MergeState(14)(human_ips), max(emptied) "               \
	"FROM " SQL_SOURCE

static int stage_rollups(struct day_copy *c, struct error *err)
{
	struct buf sql = {0};
	int status;

	buf_puts(&sql,
		 "INSERT INTO stats_spans (dimension, span, span_start, "
		 "attempt, "
		 "value, rest, events, clicks, bots, prefetches, visitors, "
		 "ips, human_visitors, human_ips, emptied) "
		 "SELECT dimension, 86400, toDateTime({start:UInt32}, 'UTC'), "
		 "{attempt:UInt64}, value, rest, " SQL_UNITED
		 "GROUP BY dimension, value, rest UNION ALL "
		 "SELECT dimension, 3600, hour, {attempt:UInt64}, value, "
		 "rest, " SQL_UNITED "AND dimension = 'total' "
		 "GROUP BY dimension, hour, value, rest");
	status = settling_run(c->s->ch, &sql, c->params.items, err);
	buf_free(&sql);
	return status;
}

const struct copy_statements rollup_statements = {
	.put_settled = put_settled,
	.put_source = put_settled,
	.put_staged = put_staged,
	.stage = stage_rollups,
};
