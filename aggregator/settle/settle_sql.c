#include "aggregator/settle/settle_sql.h"

#include <stdbool.h>

#include "aggregator/dimension.h"

/* ts against the parameters `start` and `end`; as DateTime64, so that the order
 * and the partitions of the table serve. */
#define SQL_RANGE                                                              \
	"ts >= toDateTime64({start:UInt32}, 3, 'UTC') AND "                    \
	"ts < toDateTime64({end:UInt32}, 3, 'UTC')"

#define SQL_HOUR "intDiv(toUnixTimestamp(ts), 3600) * 3600"

/* The states of stats_hourly.  What is not in `with_visitors` gets a state of
 * nothing, which is a byte or two. */
static const struct state {
	const char *column, *condition;
} states[] = {
	{"unique_identity", SQL_CLICK},
	{"ip", SQL_CLICK},
	{"unique_identity", SQL_HUMAN},
	{"ip", SQL_HUMAN},
};
#define STATE_COUNT (sizeof(states) / sizeof(states[0]))

/* ", 2, 5": the numbers of the dimensions for which `is` holds. */
static void put_numbers(struct buf *sql, bool (*is)(const struct dimension *d))
{
	for (size_t i = 0; i < dimension_count; i++) {
		if (is(&dimensions[i]))
			buf_printf(sql, ", %zu", i + 1);
	}
}

static bool is_single(const struct dimension *d)
{
	return !d->many;
}

static bool has_visitors(const struct dimension *d)
{
	return d->visitors;
}

static bool is_capped(const struct dimension *d)
{
	return d->capped;
}

/* Every event once for each dimension, as a number and a value.  One scan and
 * one aggregation: a scan for each dimension took 15 times as long. */
static void put_events(struct buf *sql)
{
	buf_puts(sql, "SELECT " SQL_HOUR " AS h, " SQL_SLOT
		      " AS slot, outcome, verdict, "
		      "unique_identity, ip, arrayConcat([");
	for (size_t i = 0; i < dimension_count; i++) {
		if (!dimensions[i].many)
			buf_printf(sql, "%s%s", i ? ", " : "",
				   dimensions[i].expression);
	}
	buf_puts(sql, "]");
	for (size_t i = 0; i < dimension_count; i++) {
		if (dimensions[i].many)
			buf_printf(sql, ", %s", dimensions[i].array);
	}
	buf_puts(sql, ") AS all_values, arrayConcat(arrayPopFront([0");
	put_numbers(sql, is_single);
	buf_puts(sql, "])");
	for (size_t i = 0; i < dimension_count; i++) {
		if (dimensions[i].many)
			buf_printf(sql, ", arrayMap(x -> %zu, %s)", i + 1,
				   dimensions[i].array);
	}
	buf_puts(sql, ") AS all_dimensions FROM clicks WHERE " SQL_RANGE
		      " AND h IN {hours:Array(UInt32)}");
}

static void put_counts(struct buf *sql)
{
	buf_puts(sql, "SELECT h, d, slot, v, d IN (0");
	put_numbers(sql, has_visitors);
	buf_puts(sql, ") AS with_visitors, count() AS n, "
		      "countIf(" SQL_CLICK ") AS c, countIf(" SQL_BOT ") AS b, "
		      "countIf(" SQL_PREFETCH ") AS p");
	for (size_t i = 0; i < STATE_COUNT; i++)
		buf_printf(sql,
			   ", uniqCombined64StateIf(14)(%s, with_visitors AND "
			   "%s) AS s%zu",
			   states[i].column, states[i].condition, i);
	buf_puts(sql, " FROM (");
	put_events(sql);
	buf_puts(sql, ") ARRAY JOIN all_values AS v, all_dimensions AS d "
		      "GROUP BY h, d, slot, v");
}

/* How busy a value was in the whole hour, 1 being the busiest. */
static void put_ranked(struct buf *sql)
{
	buf_puts(sql, "SELECT *, dense_rank() OVER (PARTITION BY h, d ORDER BY "
		      "hour_n DESC, v) AS place FROM (SELECT *, sum(n) OVER "
		      "(PARTITION BY h, d, v) AS hour_n FROM (");
	put_counts(sql);
	buf_puts(sql, "))");
}

void settle_sql_hours(struct buf *sql)
{
	buf_puts(sql, "INSERT INTO stats_hourly (dimension, hour, attempt, "
		      "slot, value, rest, events, clicks, bots, prefetches, "
		      "visitors, ips, human_visitors, human_ips) "
		      "SELECT arrayElement([");
	for (size_t i = 0; i < dimension_count; i++)
		buf_printf(sql, "%s'%s'", i ? ", " : "", dimensions[i].name);
	buf_puts(sql, "], d) AS dimension, "
		      "toDateTime(h, 'UTC') AS hour, "
		      "{attempt:UInt64} AS attempt, slot, "
		      "if(rest, '', v) AS value, "
		      "place > {values_max:UInt64} AND d IN (0");
	put_numbers(sql, is_capped);
	buf_puts(sql, ") AS rest, sum(n), sum(c), sum(b), sum(p)");
	for (size_t i = 0; i < STATE_COUNT; i++)
		buf_printf(sql, ", uniqCombined64MergeState(14)(s%zu)", i);
	buf_puts(sql, " FROM (");
	put_ranked(sql);
	buf_puts(sql, ") GROUP BY h, d, slot, value, rest");
}

void settle_sql_day_clicks(struct buf *sql, const char *staging)
{
	buf_printf(sql,
		   "INSERT INTO %s (link_id, slot, clicks, bots, prefetches, "
		   "effective, ineffective) "
		   "SELECT link_id, " SQL_SLOT " AS slot, "
		   "countIf(" SQL_CLICK "), countIf(" SQL_BOT "), "
		   "countIf(" SQL_PREFETCH "), countIf(" SQL_HUMAN ") AS e, "
		   "count() - e "
		   "FROM clicks WHERE link_id != 0 AND " SQL_RANGE
		   " GROUP BY link_id, slot",
		   staging);
}

void settle_sql_day_visits(struct buf *sql, const char *staging)
{
	buf_printf(sql,
		   "INSERT INTO %s (link_id, day, pv, uv, ip, human_uv, "
		   "human_ip, effective, ineffective) "
		   "SELECT link_id, toDate(toDateTime({start:UInt32}, 'UTC')), "
		   "count() AS n, uniqExactIf(unique_identity, " SQL_CLICK "), "
		   "uniqExactIf(clicks.ip, " SQL_CLICK "), "
		   "uniqExactIf(unique_identity, " SQL_HUMAN "), "
		   "uniqExactIf(clicks.ip, " SQL_HUMAN "), "
		   "countIf(" SQL_HUMAN ") AS e, n - e "
		   "FROM clicks WHERE link_id != 0 AND " SQL_RANGE
		   " GROUP BY link_id",
		   staging);
}
