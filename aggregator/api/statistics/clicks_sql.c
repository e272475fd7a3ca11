#include "aggregator/api/statistics/clicks_sql.h"

#include <inttypes.h>

#include "aggregator/settle/repeats.h"
#include "aggregator/zone/civil.h"

static const char *const left[] = {
	[BOTS_EXCLUDE] = "n_clicks - n_bots - n_prefetches",
	[BOTS_INCLUDE] = "n_clicks",
	[BOTS_ONLY] = "n_bots + n_prefetches",
};

/* The conditions on rows of `clicks` that count for visitors. */
static const char *const conditions[] = {
	[BOTS_EXCLUDE] = SQL_HUMAN,
	[BOTS_INCLUDE] = SQL_CLICK,
	[BOTS_ONLY] = SQL_OTHER,
};

const char *clicks_sql_left(enum bots_mode mode)
{
	return left[mode];
}

const char *clicks_sql_condition(enum bots_mode mode)
{
	return conditions[mode];
}

void clicks_sql_put_bucket(struct buf *sql, const char *seconds,
			   const struct buckets *buckets)
{
	/* One constant: for 720 constants ClickHouse's analyzer would make 720
	 * nodes, which took a third of the time of a question. */
	buf_printf(sql, "roundDown(%s, CAST('[", seconds);
	for (size_t i = 0; i < buckets->count; i++)
		buf_printf(sql, "%s%" PRId64, i ? "," : "", buckets->starts[i]);
	buf_puts(sql, "]', 'Array(Int64)'))");
}

#define SQL_TOTAL_ALONE "'total' AS answer_part, 0 AS bucket"

void clicks_sql_put_intervals(struct buf *sql, const char *seconds,
			      const struct buckets *buckets)
{
	if (buckets->count == 1) {
		buf_puts(sql,
			 "SELECT " SQL_TOTAL_ALONE ", " CLICKS_SQL_NO_VALUES);
		return;
	}
	buf_puts(sql, "SELECT if(grouping(bucket) = 0, 'bucket', 'total') AS "
		      "answer_part, ");
	clicks_sql_put_bucket(sql, seconds, buckets);
	buf_puts(sql, " AS bucket, " CLICKS_SQL_NO_VALUES);
}

void clicks_sql_put_sets(struct buf *sql, const struct buckets *buckets)
{
	if (buckets->count > 1)
		buf_puts(sql, " GROUP BY GROUPING SETS ((bucket), ())");
}

/* FUNCTION_THROW_IF_VALUE_IS_NON_ZERO */
#define THROWN 395

#define SQL_ASKED                                                              \
	"ts >= toDateTime64({from:UInt32}, 3, 'UTC') AND "                     \
	"ts < toDateTime64({to:UInt32}, 3, 'UTC') "
/* A format string with one number, question.earliest. */
#define SQL_ONCE(scope)                                                        \
	" AND (outcome = 'repeated' OR "                                       \
	"(epoch, topic, partition, offset) NOT IN "                            \
	"(SELECT epoch, topic, partition, offset FROM " REPEATS_SQL(           \
		scope SQL_ASKED, "%" PRId64) "))"

void clicks_sql_put_once(struct buf *sql, const struct question *q,
			 bool of_link)
{
	if (!q->marked)
		buf_puts(sql, " AND NOT throwIf(" REPEATS_SQL_MARKED ")");
	else if (of_link)
		buf_printf(sql, SQL_ONCE("link_id = {link_id:UInt64} AND "),
			   q->earliest);
	else
		buf_printf(sql, SQL_ONCE(""), q->earliest);
}

bool clicks_sql_met_marked(const struct clickhouse *ch)
{
	return clickhouse_last_code(ch) == THROWN;
}

void clicks_sql_from_rows(struct buf *sql, const struct question *q,
			  const struct clicks_scope *scope)
{
	buf_printf(sql,
		   " FROM clicks WHERE %s"
		   "ts >= toDateTime64({from:UInt32}, 3, 'UTC') "
		   "AND ts < toDateTime64({to:UInt32}, 3, 'UTC')",
		   scope->link ? "link_id = {link_id:UInt64} AND " : "");
	if (scope->owners)
		/* Clicks of no link have no owner. */
		buf_puts(sql, " AND link_id != 0 AND has(splitByChar('\\n', "
			      "{bound_owners:String}), toString(owner))");
	clicks_sql_put_once(sql, q, scope->link);
	filters_put_sql(&q->filters, sql);
}

static void put_raw_counts(struct buf *sql, const struct question *q,
			   const struct clicks_scope *scope, bool exact)
{
	const char *unique = exact ? "uniqExactIf" : "uniqCombined64If(17)";

	buf_printf(sql,
		   SQL_COUNTS_OF_ROWS
		   ", %s(unique_identity, %s) AS n_visitors, "
		   "%s(ip, %s) AS n_ips",
		   unique, conditions[q->bots], unique, conditions[q->bots]);
	clicks_sql_from_rows(sql, q, scope);
}

static void put_values(struct buf *sql, const struct question *q)
{
	const struct dimension *second = q->group_by[1];

	buf_printf(sql, "toValidUTF8(%s) AS group_value, ",
		   q->group_by[0]->expression);
	if (second)
		buf_printf(sql, "toValidUTF8(%s) AS second_value, ",
			   second->expression);
	else
		buf_puts(sql, "'' AS second_value, ");
}

static const char *values_of(const struct question *q)
{
	return q->group_by_count > 1 ? "group_value, second_value"
				     : "group_value";
}

static void put_order(struct buf *sql, const struct question *q)
{
	buf_printf(sql,
		   " ORDER BY %s DESC, n_events DESC, group_value, "
		   "second_value LIMIT {limit:UInt64}",
		   left[q->bots]);
}

/* Selects buckets, total and groups in one reading of the rows. */
static void put_at_once(struct buf *sql, const struct question *q,
			const struct buckets *buckets,
			const struct clicks_scope *scope, bool exact)
{
	bool buckets_too = buckets->count > 1;

	buf_printf(sql,
		   "SELECT * FROM (SELECT multiIf(grouping(group_value) = 0, "
		   "'group', %s'total') AS answer_part, ",
		   buckets_too ? "grouping(bucket) = 0, 'bucket', " : "");
	if (buckets_too)
		clicks_sql_put_bucket(sql, "toUnixTimestamp(ts)", buckets);
	else
		buf_putc(sql, '0');
	buf_puts(sql, " AS bucket, ");
	put_values(sql, q);
	put_raw_counts(sql, q, scope, exact);
	buf_printf(sql, " GROUP BY GROUPING SETS (%s(), (%s)))",
		   buckets_too ? "(bucket), " : "", values_of(q));
	put_order(sql, q);
	/* The limit counts groups: each bucket, and the total, has a LIMIT BY
	 * value of its own. */
	buf_puts(sql, " BY if(answer_part = 'group', '', "
		      "concat(answer_part, toString(bucket)))");
}

static void put_groups(struct buf *sql, const struct question *q,
		       const struct clicks_scope *scope, bool exact)
{
	buf_puts(sql, " UNION ALL SELECT * FROM (SELECT 'group' AS "
		      "answer_part, 0 AS bucket, ");
	put_values(sql, q);
	put_raw_counts(sql, q, scope, exact);
	buf_printf(sql, " GROUP BY %s", values_of(q));
	put_order(sql, q);
	buf_putc(sql, ')');
}

/* A dimension with several values makes several rows of one click, so that
 * groups are selected apart from the total. */
static void put_one_by_one(struct buf *sql, const struct question *q,
			   const struct buckets *buckets,
			   const struct clicks_scope *scope, bool exact)
{
	clicks_sql_put_intervals(sql, "toUnixTimestamp(ts)", buckets);
	put_raw_counts(sql, q, scope, exact);
	clicks_sql_put_sets(sql, buckets);
	if (q->group_by_count)
		put_groups(sql, q, scope, exact);
}

void clicks_sql_rows(struct buf *sql, const struct question *q,
		     const struct buckets *buckets,
		     const struct clicks_scope *scope, bool exact)
{
	if (q->group_by_count && !question_groups_many(q))
		put_at_once(sql, q, buckets, scope, exact);
	else
		put_one_by_one(sql, q, buckets, scope, exact);
	buf_puts(sql, " FORMAT TabSeparated");
}

/* --- sealed days ------------------------------------------------------------
 */

/* PREWHERE: otherwise ClickHouse compares the attempts of all links in the
 * granules that it reads, which took a quarter of the time of an answer. */
#define SQL_OF_SEALED                                                          \
	" FROM sealed_slots PREWHERE link_id = {link_id:UInt64} "              \
	"WHERE slot >= toDateTime({from:UInt32}, 'UTC') "                      \
	"AND slot < toDateTime({to:UInt32}, 'UTC') "                           \
	"AND " COPIED_DAYS_SQL(                                                \
		"days", "attempts",                                            \
		"toUInt32(intDiv(toUnixTimestamp(slot), 86400) * 86400)")

const struct clicks_sql_sets clicks_sql_sets[] = {
	[BOTS_EXCLUDE] = {"people", "people_ips"},
	[BOTS_INCLUDE] = {"arrayConcat(people, others)",
			  "arrayConcat(people_ips, others_ips)"},
	[BOTS_ONLY] = {"others", "others_ips"},
};

/* A column that bounds stretches of time: "name >= before 123 after". */
struct time_column {
	const char *name, *before, *after;
};

static void put_stretch(struct buf *sql, const struct time_column *column,
			size_t *count, int64_t from, int64_t to)
{
	if (from >= to)
		return;
	buf_printf(sql, "%s(%s >= %s%" PRId64 "%s AND %s < %s%" PRId64 "%s)",
		   (*count)++ ? " OR " : " AND (", column->name, column->before,
		   from, column->after, column->name, column->before, to,
		   column->after);
}

static bool put_open(struct buf *sql, const struct time_column *column,
		     int64_t from, int64_t to, const struct copied_days *days)
{
	size_t count = 0;

	for (size_t i = 0; i < days->count; i++) {
		put_stretch(sql, column, &count, from, days->items[i].start);
		from = days->items[i].start + CIVIL_DAY;
	}
	put_stretch(sql, column, &count, from, to);
	if (count)
		buf_putc(sql, ')');
	return count > 0;
}

bool clicks_sql_put_open(struct buf *sql, const struct question *q,
			 const struct copied_days *days)
{
	static const struct time_column ts = {"ts", "toDateTime64(",
					      ", 3, 'UTC')"};

	return put_open(sql, &ts, q->from, q->to, days);
}

bool clicks_sql_put_open_hours(struct buf *sql, const struct question *q,
			       const struct copied_days *days)
{
	static const struct time_column hour = {"hour", "toDateTime(",
						", 'UTC')"};

	return put_open(sql, &hour, q->from - q->from % CLICKS_SQL_HOUR, q->to,
			days);
}

/* Selects one row per slot of the time that is not sealed. */
static void put_open_slots(struct buf *sql, const struct question *q,
			   const char *open)
{
	buf_puts(sql, "SELECT " SQL_SLOT " AS s, " CLICKS_SQL_COUNTED ", ");
	buf_printf(sql, "groupUniqArrayIf(" SQL_VISITOR ", %s) AS v, ",
		   conditions[q->bots]);
	buf_printf(sql, "groupUniqArrayIf(" SQL_ADDRESS ", %s) AS i ",
		   conditions[q->bots]);
	buf_printf(sql, "FROM clicks WHERE link_id = {link_id:UInt64}%s", open);
	clicks_sql_put_once(sql, q, true);
	buf_puts(sql, " GROUP BY s");
}

/* Selects one row per slot, from both sources. */
static void put_slots(struct buf *sql, const struct question *q,
		      const struct copied_days *sealed)
{
	struct buf open = {0};

	buf_printf(sql,
		   "(SELECT slot AS s, " CLICKS_SQL_SETTLED
		   ", %s AS v, %s AS i" SQL_OF_SEALED,
		   clicks_sql_sets[q->bots].visitors,
		   clicks_sql_sets[q->bots].addresses);
	if (clicks_sql_put_open(&open, q, sealed)) {
		buf_puts(sql, " UNION ALL ");
		put_open_slots(sql, q, buf_cstr(&open));
	}
	sql->failed |= open.failed;
	buf_free(&open);
	buf_putc(sql, ')');
}

void clicks_sql_sealed(struct buf *sql, const struct question *q,
		       const struct buckets *buckets,
		       const struct copied_days *sealed, bool exact)
{
	const char *unique =
		exact ? "uniqExactArray" : "uniqCombined64Array(17)";

	clicks_sql_put_intervals(sql, "toUnixTimestamp(s)", buckets);
	buf_printf(sql,
		   "sum(e) AS n_events, "
		   "sum(c) AS n_clicks, sum(b) AS n_bots, "
		   "sum(p) AS n_prefetches, %s(v) AS n_visitors, %s(i) AS "
		   "n_ips FROM ",
		   unique, unique);
	put_slots(sql, q, sealed);
	clicks_sql_put_sets(sql, buckets);
	buf_puts(sql, " FORMAT TabSeparated");
}

#define SQL_ROW_TIME(which)                                                    \
	"(SELECT toUnixTimestamp64Milli(" which "(ts)) FROM clicks WHERE "     \
	"link_id = {link_id:UInt64} AND "                                      \
	"ts >= toDateTime64({from:UInt32}, 3, 'UTC'))"

void clicks_sql_life(struct buf *sql, const struct question *q,
		     const struct copied_days *sealed)
{
	buf_puts(sql, "SELECT sum(e), sum(c), sum(b), sum(p), "
		      "uniqCombined64Array(17)(v), uniqCombined64Array(17)(i), "
		      "toUnixTimestamp(min(s)) * 1000, "
		      "toUnixTimestamp(max(s)) * 1000, " SQL_ROW_TIME(
			      "min") ", " SQL_ROW_TIME("max") " FROM ");
	put_slots(sql, q, sealed);
	buf_puts(sql, " FORMAT TabSeparated");
}

void clicks_sql_sealed_size(struct buf *sql, const struct question *q,
			    const struct copied_days *sealed)
{
	struct buf open = {0};

	buf_puts(sql, "SELECT (SELECT sum(events)" SQL_OF_SEALED ")");
	if (clicks_sql_put_open(&open, q, sealed))
		buf_printf(sql,
			   " + (SELECT count() FROM clicks "
			   "WHERE link_id = {link_id:UInt64}%s)",
			   buf_cstr(&open));
	sql->failed |= open.failed;
	buf_free(&open);
	buf_puts(sql, " FORMAT TabSeparated");
}
