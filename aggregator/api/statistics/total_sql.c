#include "aggregator/api/statistics/total_sql.h"

#include <inttypes.h>

#include "aggregator/api/published_hours.h"
#include "aggregator/api/statistics/clicks_sql.h"
#include "aggregator/zone/civil.h"

/* The states that count for visitors; none are kept for robots alone. */
static const char *const states[] = {
	[BOTS_EXCLUDE] = "human_",
	[BOTS_INCLUDE] = "",
	[BOTS_ONLY] = NULL,
};

/* --- sources ----------------------------------------------------------------
 */

/* Conditions on stats_hourly: the newest published attempts of the requested
 * hours, which are listed or looked up. */
#define SQL_SLOTS                                                              \
	"slot >= toDateTime({from:UInt32}, 'UTC') AND "                        \
	"slot < toDateTime({to:UInt32}, 'UTC') AND "
#define SQL_LISTED SQL_SLOTS PUBLISHED_HOURS_SQL("hours", "hour_attempts")
#define SQL_LOOKED_UP                                                          \
	"hour >= toStartOfHour(toDateTime({from:UInt32}, 'UTC')) AND "         \
	"hour < toDateTime({to:UInt32}, 'UTC') AND " SQL_SLOTS                 \
	"(hour, attempt) IN (SELECT unit, max(attempt) FROM settled "          \
	"WHERE kind = 'hour' AND attempt <= {attempt:UInt64} AND "             \
	"unit >= toStartOfHour(toDateTime({from:UInt32}, 'UTC')) AND "         \
	"unit < toDateTime({to:UInt32}, 'UTC') GROUP BY unit)"

/* A condition on stats_spans. */
#define SQL_ROLLED                                                             \
	"span_start >= toDateTime({from:UInt32}, 'UTC') AND "                  \
	"span_start < toDateTime({to:UInt32}, 'UTC') AND " COPIED_DAYS_SQL(    \
		"days", "attempts", "toUInt32(toStartOfDay(span_start))")

/* The parts of a row that are read, in any of the tables. */
struct span_reading {
	const char *dimension;
	uint32_t span;	   /* span in stats_spans, seconds */
	const char *state; /* state of visitors; NULL: not known */
	bool rest;	   /* reads the rest instead of values */
	/* A query that selects the only values to read; NULL: all. */
	const char *only;
};

/* Appends a condition on rows with `value` and `rest`.  Rows of the rest have
 * an empty value; the condition on it uses the tables' order. */
static void put_which(struct buf *sql, const struct span_reading *what)
{
	buf_puts(sql, what->rest ? "rest AND value = ''" : "NOT rest");
	if (what->only)
		buf_printf(sql, " AND value IN (%s)", what->only);
}

static void put_columns(struct buf *sql, const char *at,
			const struct span_reading *what)
{
	buf_printf(sql,
		   "SELECT %s AS t, value AS v, events AS e, clicks AS c, "
		   "bots AS b, prefetches AS p, emptied AS x",
		   at);
	if (what->state)
		buf_printf(sql, ", %svisitors AS vi, %sips AS ad", what->state,
			   what->state);
}

/* Appends " UNION ALL", except before the first SELECT. */
static void put_union(struct buf *sql, size_t *count)
{
	if ((*count)++)
		buf_puts(sql, " UNION ALL ");
}

/* Selects hours that no rollup has; with `valued`, only those of its days. */
static void put_slots(struct buf *sql, const struct question *q,
		      const struct total_sources *from,
		      const struct span_reading *what, size_t *count)
{
	struct buf open = {0};

	if (clicks_sql_put_open_hours(&open, q, from->rolled) &&
	    (!from->valued || from->valued->count > from->rolled->count)) {
		put_union(sql, count);
		put_columns(sql, "slot", what);
		buf_printf(sql,
			   " FROM stats_hourly WHERE %s%s%s AND "
			   "dimension = '%s' AND ",
			   from->listed ? SQL_LISTED : SQL_LOOKED_UP,
			   from->listed ? "" : buf_cstr(&open),
			   from->valued ? " AND has({value_days:Array(UInt32)}"
					  ", toUInt32(toStartOfDay(slot)))"
					: "",
			   what->dimension);
		put_which(sql, what);
	}
	sql->failed |= open.failed;
	buf_free(&open);
}

/* Selects the total from rows, one row per slot. */
static void put_rows(struct buf *sql, const struct question *q,
		     const struct copied_days *valued,
		     const struct span_reading *what, size_t *count)
{
	struct buf open = {0};

	if (clicks_sql_put_open(&open, q, valued)) {
		const char *of = clicks_sql_condition(q->bots);

		put_union(sql, count);
		buf_puts(sql, "SELECT " SQL_SLOT " AS t, '' AS v, "
			      "" CLICKS_SQL_COUNTED ", false AS x");
		if (what->state)
			buf_printf(sql,
				   ", uniqCombined64StateIf(14)("
				   "unique_identity, %s) AS vi, "
				   "uniqCombined64StateIf(14)(ip, %s) AS ad",
				   of, of);
		buf_printf(sql, " FROM clicks WHERE true%s", buf_cstr(&open));
		clicks_sql_put_once(sql, q, false);
		buf_puts(sql, " GROUP BY t");
	}
	sql->failed |= open.failed;
	buf_free(&open);
}

/* Selects one row per slot or span, and value: t, v, e, c, b, p, x; states vi
 * and ad. */
static void put_source(struct buf *sql, const struct question *q,
		       const struct total_sources *from,
		       const struct span_reading *what)
{
	size_t count = 0;

	buf_putc(sql, '(');
	put_slots(sql, q, from, what, &count);
	if (from->rolled->count) {
		put_union(sql, &count);
		put_columns(sql, "span_start", what);
		buf_printf(sql,
			   " FROM stats_spans WHERE " SQL_ROLLED
			   " AND dimension = '%s' AND span = %" PRIu32 " AND ",
			   what->dimension, what->span);
		put_which(sql, what);
	}
	if (from->valued)
		put_rows(sql, q, from->valued, what, &count);
	buf_putc(sql, ')');
}

/* --- values of days ---------------------------------------------------------
 */

#define SQL_OF_VALUES                                                          \
	" FROM day_values WHERE "                                              \
	"day >= toDate(toDateTime({from:UInt32}, 'UTC')) AND "                 \
	"day <= toDate(toDateTime({to:UInt32}, 'UTC')) AND " COPIED_DAYS_SQL(  \
		"value_days", "value_attempts",                                \
		"toUInt32(toDateTime(day, 'UTC'))") " AND "

/* Selects one row per value and day, or stretch of rows: v, e, c, b, p. */
static void put_values(struct buf *sql, const struct question *q,
		       const struct copied_days *valued,
		       const struct span_reading *what)
{
	struct buf open = {0};

	buf_printf(sql,
		   "(SELECT value AS v, " CLICKS_SQL_SETTLED SQL_OF_VALUES
		   "dimension = '%s' AND ",
		   what->dimension);
	put_which(sql, what);
	if (!what->rest && clicks_sql_put_open(&open, q, valued)) {
		buf_printf(sql,
			   " UNION ALL SELECT %s AS v, " CLICKS_SQL_COUNTED
			   " FROM clicks WHERE true%s",
			   q->group_by[0]->expression, buf_cstr(&open));
		clicks_sql_put_once(sql, q, false);
		buf_puts(sql, " GROUP BY v");
	}
	buf_putc(sql, ')');
	sql->failed |= open.failed;
	buf_free(&open);
}

/* --- counts -----------------------------------------------------------------
 */

static void put_counts(struct buf *sql, const struct span_reading *what)
{
	buf_puts(sql, CLICKS_SQL_SUMS);
	buf_puts(sql, what->state
			      ? ", if(max(x), NULL, "
				"uniqCombined64Merge(14)(vi)) AS n_visitors, "
				"if(max(x), NULL, "
				"uniqCombined64Merge(14)(ad)) AS n_ips"
			      : ", CAST(NULL AS Nullable(UInt64)) AS "
				"n_visitors, CAST(NULL AS Nullable(UInt64)) "
				"AS n_ips");
	buf_puts(sql, " FROM ");
}

/* Returns the longest span that lies in one bucket wherever it begins; 0: slots
 * are needed. */
static uint32_t span_of(const struct buckets *buckets)
{
	bool hours = true, days = true;

	for (size_t i = 0; i < buckets->count; i++) {
		hours = hours && buckets->starts[i] % CLICKS_SQL_HOUR == 0;
		days = days && buckets->starts[i] % CIVIL_DAY == 0;
	}
	return days ? CIVIL_DAY : hours ? CLICKS_SQL_HOUR : 0;
}

/* Selects buckets and total from the same rows, which are read once. */
static void put_together(struct buf *sql, const struct question *q,
			 const struct buckets *buckets,
			 const struct total_sources *from,
			 const struct span_reading *total)
{
	clicks_sql_put_intervals(sql, "toUnixTimestamp(t)", buckets);
	put_counts(sql, total);
	put_source(sql, q, from, total);
	clicks_sql_put_sets(sql, buckets);
}

/* Selects the total from longer spans, so that fewer states are united. */
static void put_apart(struct buf *sql, const struct question *q,
		      const struct buckets *buckets,
		      const struct total_sources *from,
		      const struct span_reading *total)
{
	static const struct copied_days none;
	const struct total_sources slots = {&none, from->valued, false};
	struct span_reading parts = *total;

	parts.span = span_of(buckets);
	buf_puts(sql, "SELECT 'bucket' AS answer_part, ");
	clicks_sql_put_bucket(sql, "toUnixTimestamp(t)", buckets);
	buf_puts(sql, " AS bucket, " CLICKS_SQL_NO_VALUES);
	put_counts(sql, &parts);
	put_source(sql, q, parts.span ? from : &slots, &parts);
	buf_puts(sql, " GROUP BY bucket UNION ALL "
		      "SELECT 'total' AS answer_part, 0 AS "
		      "bucket, " CLICKS_SQL_NO_VALUES);
	put_counts(sql, total);
	put_source(sql, q, from, total);
}

static void put_groups_source(struct buf *sql, const struct question *q,
			      const struct total_sources *from,
			      const struct span_reading *what)
{
	if (from->valued)
		put_values(sql, q, from->valued, what);
	else
		put_source(sql, q, from, what);
}

#define SQL_ORDER " DESC, n_events DESC, group_value LIMIT {limit:UInt64}"

/* Selects the values in the answer, found by counts alone: where there are many
 * values, uniting the states of the others would be most of the cost. */
static void put_answered(struct buf *sql, const struct question *q,
			 const struct total_sources *from,
			 const struct span_reading *groups)
{
	struct span_reading counts = *groups;

	counts.state = NULL;
	buf_puts(sql, "SELECT arrayJoin(written) FROM (SELECT toValidUTF8(v) "
		      "AS group_value, groupUniqArray(v) AS "
		      "written, " CLICKS_SQL_SUMS " FROM ");
	put_source(sql, q, from, &counts);
	buf_printf(sql, " GROUP BY group_value ORDER BY %s" SQL_ORDER ")",
		   clicks_sql_left(q->bots));
}

static void put_groups(struct buf *sql, const struct question *q,
		       const struct total_sources *from)
{
	const struct dimension *d = q->group_by[0];
	struct buf only = {0};
	struct span_reading what = {
		.dimension = d->name,
		.span = CIVIL_DAY,
		.state = d->kind == DIMENSION_VISITORS ? states[q->bots] : NULL,
	};

	if (what.state && dimension_has_hundreds(d)) {
		put_answered(&only, q, from, &what);
		what.only = buf_cstr(&only);
	}
	buf_puts(sql, " UNION ALL SELECT * FROM (SELECT 'group' AS "
		      "answer_part, 0 AS bucket, toValidUTF8(v) AS "
		      "group_value, '' AS second_value, ");
	put_counts(sql, &what);
	put_groups_source(sql, q, from, &what);
	buf_printf(sql, " GROUP BY group_value ORDER BY %s" SQL_ORDER ")",
		   clicks_sql_left(q->bots));
	sql->failed |= only.failed;
	buf_free(&only);
}

/* Hours have all values of dimensions with visitors. */
static void put_left_out(struct buf *sql, const struct question *q,
			 const struct total_sources *from)
{
	const struct span_reading rest = {
		.dimension = q->group_by[0]->name,
		.span = CIVIL_DAY,
		.rest = true,
	};

	if (q->group_by[0]->kind == DIMENSION_VISITORS)
		return;
	buf_puts(sql, " UNION ALL SELECT 'left_out' AS answer_part, 0 AS "
		      "bucket, " CLICKS_SQL_NO_VALUES);
	put_counts(sql, &rest);
	put_groups_source(sql, q, from, &rest);
}

void total_sql_clicks(struct buf *sql, const struct question *q,
		      const struct buckets *buckets,
		      const struct total_sources *from)
{
	const struct span_reading total = {
		.dimension = "total",
		.span = CIVIL_DAY,
		.state = states[q->bots],
	};

	if (!from->rolled->count || buckets->count == 1 ||
	    span_of(buckets) == CIVIL_DAY)
		put_together(sql, q, buckets, from, &total);
	else
		put_apart(sql, q, buckets, from, &total);
	if (q->group_by_count) {
		put_groups(sql, q, from);
		put_left_out(sql, q, from);
	}
	buf_puts(sql, " FORMAT TabSeparated");
}

void total_sql_links(struct buf *sql, const struct question *q,
		     const struct total_sources *from)
{
	const struct span_reading links = {.dimension = "link",
					   .span = CIVIL_DAY};

	buf_puts(sql, "SELECT toUInt64(v) AS link, "
		      "t >= toDateTime({start:UInt32}, 'UTC') AS is_now, "
		      "" CLICKS_SQL_SUMS " FROM ");
	put_source(sql, q, from, &links);
	buf_puts(sql, " WHERE v != '0' GROUP BY link, is_now");
}

void total_sql_links_left_out(struct buf *sql, const struct question *q,
			      const struct total_sources *from)
{
	const struct span_reading rest = {
		.dimension = "link", .span = CIVIL_DAY, .rest = true};

	buf_puts(sql, "SELECT sum(e) FROM ");
	put_source(sql, q, from, &rest);
	buf_puts(sql, " FORMAT TabSeparated");
}
