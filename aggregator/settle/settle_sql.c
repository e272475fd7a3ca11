#include "aggregator/settle/settle_sql.h"

#include <inttypes.h>
#include <stddef.h>

#include "aggregator/dimension.h"
#include "aggregator/settle/dropped.h"

#define SQL_HOUR "intDiv(toUnixTimestamp(ts), 3600) * 3600"

#define SQL_STATE(column, condition)                                           \
	"uniqCombined64StateIf(14)(" column ", " condition ")"
/* Each click goes into one state, that of people or that of others, and the two
 * are added for each group: updating states is most of the cost of a row. */
#define SQL_STATE_OF_ALL(column)                                               \
	SQL_STATE(column, SQL_HUMAN) " + " SQL_STATE(column, SQL_OTHER)

/* The states of stats_hourly, and the type of the values that they count. */
static const struct visitor_state {
	const char *sql, *type;
} states[] = {
	{SQL_STATE_OF_ALL("unique_identity"), "FixedString(20)"},
	{SQL_STATE_OF_ALL("ip"), "IPv6"},
	{SQL_STATE("unique_identity", SQL_HUMAN), "FixedString(20)"},
	{SQL_STATE("ip", SQL_HUMAN), "IPv6"},
};
#define STATE_COUNT (sizeof(states) / sizeof(states[0]))

/* --- hours -----------------------------------------------------------------
 *
 * Dimensions of one kind are aggregated together over the same rows (GROUPING
 * SETS): all of them are of one moment, each column is read once, and a
 * dimension costs only its own key.  Repeating each event for each dimension,
 * as a number and a value, took two and a half times as long.
 */

/* Writes the keys of the dimensions of that kind: v1 is the key of dimension
 * number 1.  `total`, number 0, has none. */
static void put_keys(struct buf *sql, enum dimension_kind kind)
{
	for (size_t i = 1; i < dimension_count; i++)
		if (dimensions[i].kind == kind)
			buf_printf(sql, "%s AS v%zu, ",
				   dimensions[i].expression, i);
}

/* Writes the dimension of a group, and its value. */
static void put_which(struct buf *sql, enum dimension_kind kind)
{
	static const char *const others[] = {"'total'", "''"};

	for (size_t k = 0; k < 2; k++) {
		buf_puts(sql, "multiIf(");
		for (size_t i = 1; i < dimension_count; i++) {
			if (dimensions[i].kind != kind)
				continue;
			buf_printf(sql, "grouping(v%zu) = 0, ", i);
			if (k == 0)
				buf_printf(sql, "'%s', ", dimensions[i].name);
			else
				buf_printf(sql, "v%zu, ", i);
		}
		buf_printf(sql, "%s) AS %s, ", others[k], k ? "v" : "d");
	}
}

static void put_sets(struct buf *sql, enum dimension_kind kind)
{
	const char *before = "";

	buf_puts(sql, " GROUP BY GROUPING SETS (");
	for (size_t i = 0; i < dimension_count; i++) {
		if (dimensions[i].kind != kind)
			continue;
		buf_printf(sql, "%s(h, quarter", before);
		if (i)
			buf_printf(sql, ", v%zu", i);
		buf_putc(sql, ')');
		before = ", ";
	}
	buf_putc(sql, ')');
}

/* Writes h, quarter, d, v, n, c, b, p; for DIMENSION_VISITORS also the
 * states. */
static void put_counts(struct buf *sql, enum dimension_kind kind,
		       const struct settle_rows *rows)
{
	buf_puts(sql, "SELECT " SQL_HOUR " AS h, " SQL_SLOT " AS quarter, ");
	put_keys(sql, kind);
	put_which(sql, kind);
	buf_puts(sql, "count() AS n, countIf(" SQL_CLICK ") AS c, "
		      "countIf(" SQL_BOT ") AS b, "
		      "countIf(" SQL_PREFETCH ") AS p");
	for (size_t i = 0; kind == DIMENSION_VISITORS && i < STATE_COUNT; i++)
		buf_printf(sql, ", %s AS s%zu", states[i].sql, i);
	buf_printf(sql,
		   " FROM %s WHERE " SQL_RANGE
		   " AND h IN {hours:Array(UInt32)}",
		   rows->dropped ? SQL_BESIDE : "clicks");
	if (rows->added)
		buf_printf(sql, " AND %s", rows->added);
	put_sets(sql, kind);
}

/* --- hours that are settled by what arrived --------------------------------
 */

static void put_names(struct buf *sql, enum dimension_kind kind)
{
	const char *before = "";

	buf_puts(sql, "dimension IN (");
	for (size_t i = 0; i < dimension_count; i++) {
		if (dimensions[i].kind != kind)
			continue;
		buf_printf(sql, "%s'%s'", before, dimensions[i].name);
		before = ", ";
	}
	buf_putc(sql, ')');
}

/* Rows of the base attempt. */
#define SQL_IN_ADDED_TO                                                        \
	SQL_IN_HOURS "AND toUInt32(hour) IN {hours:Array(UInt32)} "            \
		     "AND attempt = {base:UInt64}"

/* Writes the same columns as put_counts, for the base attempt and the rows that
 * it lacks together: a key that is in both becomes one row. */
static void put_sums(struct buf *sql, enum dimension_kind kind,
		     const struct settle_rows *rows)
{
	bool visitors = kind == DIMENSION_VISITORS;

	buf_puts(sql, "SELECT d, h, quarter, v, sum(n1) AS n, sum(c1) AS c, "
		      "sum(b1) AS b, sum(p1) AS p");
	for (size_t i = 0; visitors && i < STATE_COUNT; i++)
		buf_printf(sql, ", uniqCombined64MergeState(14)(t%zu) AS s%zu",
			   i, i);
	buf_puts(sql, " FROM (SELECT d, h, quarter, v, n AS n1, c AS c1, "
		      "b AS b1, p AS p1");
	for (size_t i = 0; visitors && i < STATE_COUNT; i++)
		buf_printf(sql, ", s%zu AS t%zu", i, i);
	buf_puts(sql, " FROM (");
	put_counts(sql, kind, rows);
	buf_puts(sql, ") UNION ALL SELECT dimension, toUInt32(hour), slot, "
		      "value, events, clicks, bots, prefetches");
	if (visitors)
		buf_puts(sql, ", visitors, ips, human_visitors, human_ips");
	buf_puts(sql, " FROM stats_hourly WHERE ");
	put_names(sql, kind);
	buf_puts(sql, " AND NOT rest AND " SQL_IN_ADDED_TO
		      ") GROUP BY d, h, quarter, v");
}

/* Values that the base counts as rest stay in the rest. */
static void put_base_rest(struct buf *sql)
{
	buf_puts(sql, "SELECT dimension, hour, {attempt:UInt64}, slot, '', "
		      "true, sum(events), sum(clicks), sum(bots), "
		      "sum(prefetches), "
		      "uniqCombined64MergeState(14)(visitors), "
		      "uniqCombined64MergeState(14)(ips), "
		      "uniqCombined64MergeState(14)(human_visitors), "
		      "uniqCombined64MergeState(14)(human_ips), false "
		      "FROM stats_hourly WHERE rest AND " SQL_IN_ADDED_TO
		      " GROUP BY dimension, hour, slot");
}

static void put_groups(struct buf *sql, enum dimension_kind kind,
		       const struct settle_rows *rows)
{
	if (rows->based)
		put_sums(sql, kind, rows);
	else
		put_counts(sql, kind, rows);
}

/* --- all dimensions --------------------------------------------------------
 */

static void put_visited(struct buf *sql, const struct settle_rows *rows)
{
	buf_puts(sql, "SELECT d, toDateTime(h, 'UTC'), {attempt:UInt64}, "
		      "quarter, v, false, n, c, b, p");
	for (size_t i = 0; i < STATE_COUNT; i++)
		buf_printf(sql, ", s%zu", i);
	buf_puts(sql, ", false FROM (");
	put_groups(sql, DIMENSION_VISITORS, rows);
	buf_putc(sql, ')');
}

/* Writes the busiest values of each hour, and one row for each slot with the
 * rest.  A value's place is its rank in the whole hour; 1 is the busiest. */
static void put_busiest(struct buf *sql, enum dimension_kind kind,
			const struct settle_rows *rows)
{
	buf_puts(sql, "SELECT d, toDateTime(h, 'UTC'), {attempt:UInt64}, "
		      "quarter, if(is_rest, '', v) AS shown, "
		      "place > {most:UInt64} AS is_rest, "
		      "sum(n), sum(c), sum(b), sum(p)");
	for (size_t i = 0; i < STATE_COUNT; i++)
		buf_printf(sql,
			   ", arrayReduce('uniqCombined64State(14)', "
			   "CAST([], 'Array(%s)')) AS e%zu",
			   states[i].type, i);
	buf_puts(sql,
		 ", false FROM (SELECT *, dense_rank() OVER (PARTITION BY h, d "
		 "ORDER BY hour_n DESC, v) AS place FROM (SELECT *, "
		 "sum(n) OVER (PARTITION BY h, d, v) AS hour_n FROM (");
	put_groups(sql, kind, rows);
	buf_puts(sql, "))) GROUP BY h, d, quarter, shown, is_rest");
}

/* Writes the base, under the new attempt. */
static void put_base(struct buf *sql)
{
	buf_puts(sql,
		 "SELECT dimension, hour, {attempt:UInt64}, slot, value, "
		 "rest, events, clicks, bots, prefetches, visitors, ips, "
		 "human_visitors, human_ips, emptied FROM stats_hourly WHERE "
		 "toUInt32(hour) IN {hours:Array(UInt32)} "
		 "AND " SQL_IN_BASE);
}

void settle_sql_hours(struct buf *sql, const struct settle_rows *rows)
{
	buf_puts(sql, "INSERT INTO stats_hourly (dimension, hour, attempt, "
		      "slot, value, rest, events, clicks, bots, prefetches, "
		      "visitors, ips, human_visitors, human_ips, emptied) ");
	put_visited(sql, rows);
	buf_puts(sql, " UNION ALL ");
	put_busiest(sql, DIMENSION_BUSIEST, rows);
	buf_puts(sql, " UNION ALL ");
	put_busiest(sql, DIMENSION_MANY, rows);
	if (!rows->dropped && !rows->based)
		return;
	buf_puts(sql, " UNION ALL ");
	if (rows->dropped)
		put_base(sql);
	else
		put_base_rest(sql);
}

/* --- days of links -----------------------------------------------------------
 */

const char settle_sql_link_slots[] =
#include "aggregator/sql/link_slots.sql.inc"
	;
const char settle_sql_link_days[] =
#include "aggregator/sql/link_days.sql.inc"
	;
const char settle_sql_dropped_slots[] =
#include "aggregator/sql/dropped_link_slots.sql.inc"
	;
/* Counts from sets of digests, in which two of very many visitors may be equal:
 * only days with late clicks are counted in this way. */
const char settle_sql_dropped_days[] =
#include "aggregator/sql/dropped_link_days.sql.inc"
	;

/* --- counting and publishing ------------------------------------------------
 */

/* Rows of a dropped day, with their base. */
static const char dropped_hour_rows[] =
#include "aggregator/sql/dropped_hour_rows.sql.inc"
	;

void settle_sql_hour_rows(struct buf *sql, const struct settle_rows *rows)
{
	if (rows->dropped) {
		buf_puts(sql, dropped_hour_rows);
		return;
	}
	buf_puts(sql, "SELECT " SQL_HOUR " AS h, count(), "
		      "countIf(outcome = 'repeated') FROM clicks "
		      "WHERE " SQL_RANGE " AND h IN {hours:Array(UInt32)}");
	if (rows->upto)
		buf_printf(sql, " AND %s", rows->upto);
	buf_puts(sql, " GROUP BY h FORMAT TabSeparated");
}

const char settle_sql_hour_base[] =
#include "aggregator/sql/hour_base.sql.inc"
	;

/* Whether the dimension is settled and has each event once. */
static bool has_all_events(const struct dimension *d)
{
	return d->kind == DIMENSION_VISITORS || d->kind == DIMENSION_BUSIEST;
}

/*
 * Writes h, attempt, n.  Each event is in every dimension once, except those of
 * many values.  If the dimensions differ, they were counted at different
 * moments (servers before 25.5 read the table once for each part of a union),
 * or in part, and n is SETTLE_SQL_UNEVEN.
 */
static void put_staged(struct buf *sql)
{
	size_t count = 0;

	buf_puts(sql, "SELECT h, attempt, if(min(m) = max(m) AND count() = ");
	for (size_t i = 0; i < dimension_count; i++)
		count += has_all_events(&dimensions[i]);
	buf_printf(sql, "%zu, min(m), %" PRIu64 ") AS n FROM (", count,
		   SETTLE_SQL_UNEVEN);
	buf_puts(sql, "SELECT toUInt32(hour) AS h, attempt, "
		      "sum(events) AS m FROM stats_hourly "
		      "WHERE dimension IN (");
	for (size_t i = 0; i < dimension_count; i++)
		if (has_all_events(&dimensions[i]))
			buf_printf(sql, "%s'%s'", i ? ", " : "",
				   dimensions[i].name);
	buf_puts(sql, ") AND " SQL_IN_HOURS
		      "AND attempt IN {attempts:Array(UInt64)} "
		      "GROUP BY hour, attempt, dimension) "
		      "GROUP BY h, attempt");
}

void settle_sql_hour_staged(struct buf *sql)
{
	put_staged(sql);
	buf_puts(sql, " FORMAT TabSeparated");
}

const char settle_sql_hour_published[] =
#include "aggregator/sql/hour_published.sql.inc"
	;
const char settle_sql_hour_repeated[] =
#include "aggregator/sql/hour_repeated.sql.inc"
	;
const char settle_sql_hour_rest[] =
#include "aggregator/sql/hour_rest.sql.inc"
	;

/* An attempt that is published later may be deleted at the same moment
 * (settling_picked_until). */
void settle_sql_publish_hours(struct buf *sql)
{
	buf_puts(sql,
		 "INSERT INTO settled (kind, unit, attempt, blocks, rows, "
		 "provisional, read_until, complete_until, settled_at, "
		 "settler) "
		 "SELECT 'hour', toDateTime(want.e.1, 'UTC'), want.e.2, "
		 "want.e.3, want.e.4, want.e.6 > 0, "
		 "fromUnixTimestamp64Milli({read_until:Int64}, 'UTC'), "
		 "fromUnixTimestamp64Milli({complete_until:Int64}, 'UTC'), "
		 "now64(3, 'UTC'), {settler:String} FROM (SELECT "
		 "arrayJoin(arrayZip({hours:Array(UInt32)}, "
		 "{attempts:Array(UInt64)}, {blocks:Array(UInt64)}, "
		 "{rows:Array(UInt64)}, {counts:Array(UInt64)}, "
		 "{provisional:Array(UInt64)})) AS e, "
		 "e.1 AS h, e.2 AS a) AS want LEFT JOIN (");
	put_staged(sql);
	buf_puts(sql, ") AS have ON want.h = have.h AND want.a = have.attempt "
		      "WHERE want.e.5 = have.n AND "
		      "toDateTime(intDiv(want.h, 86400) * 86400, 'UTC') "
		      "NOT IN " SQL_DROPPED_SINCE " AND now64(3, 'UTC') < "
		      "fromUnixTimestamp64Milli({until:Int64}, 'UTC')");
}

const char settle_sql_hours_dropped[] =
#include "aggregator/sql/hours_dropped.sql.inc"
	;
const char settle_sql_hours_written[] =
#include "aggregator/sql/hours_written.sql.inc"
	;

const char settle_sql_day_rows[] =
#include "aggregator/sql/day_rows.sql.inc"
	;
const char settle_sql_dropped_day_rows[] =
#include "aggregator/sql/dropped_day_rows.sql.inc"
	;
const char settle_sql_day_staged[] =
#include "aggregator/sql/day_staged.sql.inc"
	;
const char settle_sql_publish_day[] =
#include "aggregator/sql/publish_day.sql.inc"
	;
const char settle_sql_day_dropped[] =
#include "aggregator/sql/day_dropped.sql.inc"
	;
const char settle_sql_day_written[] =
#include "aggregator/sql/day_written.sql.inc"
	;
