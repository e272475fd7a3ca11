#include "aggregator/api/clicks_sql.h"

#include <inttypes.h>

#include "aggregator/settle/settle_sql.h"

static const char *const left[] = {
	[BOTS_EXCLUDE] = "n_clicks - n_bots - n_prefetches",
	[BOTS_INCLUDE] = "n_clicks",
	[BOTS_ONLY] = "n_bots + n_prefetches",
};

/* Which rows of clicks count for visitors. */
static const char *const conditions[] = {
	[BOTS_EXCLUDE] = SQL_HUMAN,
	[BOTS_INCLUDE] = SQL_CLICK,
	[BOTS_ONLY] = "outcome = 'redirected' AND verdict != 'human'",
};

/* Which states of stats_hourly count for visitors; none are kept for robots
 * alone. */
static const char *const states[] = {
	[BOTS_EXCLUDE] = "human_",
	[BOTS_INCLUDE] = "",
	[BOTS_ONLY] = NULL,
};

const char *clicks_sql_left(enum bots_mode mode)
{
	return left[mode];
}

/* Rounds an instant down to the start of its bucket.  The bounds are constants
 * of the query, which the engine searches by bisection. */
static void put_bucket(struct buf *sql, const char *seconds,
		       const struct buckets *buckets)
{
	buf_printf(sql, "roundDown(%s, [", seconds);
	for (size_t i = 0; i < buckets->count; i++)
		buf_printf(sql, "%s%" PRId64, i ? "," : "", buckets->starts[i]);
	buf_puts(sql, "])");
}

static void put_raw_counts(struct buf *sql, const struct question *q,
			   bool exact)
{
	const char *unique = exact ? "uniqExactIf" : "uniqCombined64If(17)";

	buf_printf(sql,
		   "count() AS n_events, countIf(" SQL_CLICK ") AS n_clicks, "
		   "countIf(" SQL_BOT ") AS n_bots, "
		   "countIf(" SQL_PREFETCH ") AS n_prefetches, "
		   "%s(unique_identity, %s) AS n_visitors, "
		   "%s(ip, %s) AS n_ips FROM clicks "
		   "WHERE link_id = {link_id:UInt64} "
		   "AND ts >= toDateTime64({from:UInt32}, 3, 'UTC') "
		   "AND ts < toDateTime64({to:UInt32}, 3, 'UTC')",
		   unique, conditions[q->bots], unique, conditions[q->bots]);
}

void clicks_sql_link(struct buf *sql, const struct question *q,
		     const struct buckets *buckets, bool exact)
{
	buf_puts(sql, "SELECT if(grouping(bucket) = 0, 'bucket', 'total') AS "
		      "answer_part, ");
	put_bucket(sql, "toUnixTimestamp(ts)", buckets);
	buf_puts(sql, " AS bucket, '' AS group_value, ");
	put_raw_counts(sql, q, exact);
	buf_puts(sql, " GROUP BY GROUPING SETS ((bucket), ())");
	if (q->group_by) {
		buf_printf(sql,
			   " UNION ALL SELECT * FROM (SELECT 'group' AS "
			   "answer_part, "
			   "0 AS bucket, toValidUTF8(%s) AS group_value, ",
			   q->group_by->expression);
		put_raw_counts(sql, q, exact);
		buf_printf(sql,
			   " GROUP BY group_value ORDER BY %s DESC, n_events "
			   "DESC, "
			   "group_value LIMIT {limit:UInt64})",
			   left[q->bots]);
	}
	buf_puts(sql, " FORMAT TabSeparated");
}

static void put_settled_counts(struct buf *sql, const struct question *q,
			       bool visitors)
{
	const char *state = visitors ? states[q->bots] : NULL;

	buf_puts(sql,
		 "sum(s.events) AS n_events, sum(s.clicks) AS n_clicks, "
		 "sum(s.bots) AS n_bots, sum(s.prefetches) AS n_prefetches, ");
	if (state)
		buf_printf(sql,
			   "toNullable(uniqCombined64Merge(14)(s.%svisitors)) "
			   "AS n_visitors, "
			   "toNullable(uniqCombined64Merge(14)(s.%sips)) AS "
			   "n_ips",
			   state, state);
	else
		buf_puts(sql, "CAST(NULL AS Nullable(UInt64)) AS n_visitors, "
			      "CAST(NULL AS Nullable(UInt64)) AS n_ips");
	buf_printf(sql, " FROM stats_hourly AS s WHERE " SQL_PUBLISHED);
}

void clicks_sql_all(struct buf *sql, const struct question *q,
		    const struct buckets *buckets)
{
	buf_puts(sql, "SELECT if(grouping(bucket) = 0, 'bucket', 'total') AS "
		      "answer_part, ");
	put_bucket(sql, "toUnixTimestamp(slot)", buckets);
	buf_puts(sql, " AS bucket, '' AS group_value, ");
	put_settled_counts(sql, q, true);
	buf_puts(sql, " AND dimension = 'total' "
		      "GROUP BY GROUPING SETS ((bucket), ())");
	if (q->group_by) {
		buf_puts(sql,
			 " UNION ALL SELECT * FROM (SELECT 'group' AS "
			 "answer_part, 0 AS bucket, toValidUTF8(s.value) AS "
			 "group_value, ");
		put_settled_counts(sql, q,
				   q->group_by->kind == DIMENSION_VISITORS);
		buf_printf(sql,
			   " AND dimension = '%s' AND NOT rest GROUP BY "
			   "group_value "
			   "ORDER BY %s DESC, n_events DESC, group_value "
			   "LIMIT {limit:UInt64})",
			   q->group_by->name, left[q->bots]);
	}
	buf_puts(sql, " FORMAT TabSeparated");
}
