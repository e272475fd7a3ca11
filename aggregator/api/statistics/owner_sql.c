#include "aggregator/api/statistics/owner_sql.h"

#include "aggregator/api/statistics/clicks_sql.h"
#include "aggregator/settle/owner_days.h"
#include "aggregator/settle/settle_sql.h"

/* IN takes a set, for which the order of the tables is used. */
#define SQL_OWNERS "owner IN splitByChar('\\n', {bound_owners:String})"

#define SQL_OF_SLOTS                                                           \
	" FROM owner_slots WHERE " SQL_OWNERS                                  \
	" AND slot >= toDateTime({from:UInt32}, 'UTC') "                       \
	"AND slot < toDateTime({to:UInt32}, 'UTC') AND " COPIED_DAYS_SQL(      \
		"days", "attempts",                                            \
		"toUInt32(intDiv(toUnixTimestamp(slot), 86400) * 86400)")

#define SQL_OF_VALUES                                                          \
	" FROM owner_values WHERE " SQL_OWNERS                                 \
	" AND day >= toDate(toDateTime({from:UInt32}, 'UTC')) "                \
	"AND day <= toDate(toDateTime({to:UInt32}, 'UTC')) "                   \
	"AND " COPIED_DAYS_SQL("days", "value_attempts",                       \
			       "toUInt32(toDateTime(day, 'UTC'))")

/* Rows of the rest have an empty value; the condition on it uses the table's
 * order. */
#define SQL_OF_REST SQL_OF_VALUES " AND rest AND value = ''"

/*
 * Estimates how many there were from digests of 32 bits: of n, N (1 - exp(-n /
 * N)) digests differ, with N = 2^32 (the classical occupancy problem).  Up to
 * 65,535 that is n itself; for a hundred million it is 1 % less, which would be
 * beyond the stated error.
 */
#define SQL_HOW_MANY(digests)                                                  \
	"toNullable(toUInt64(round(-4294967296 * "                             \
	"log1p(-least(uniqCombined64Array(17)(" digests                        \
	"), 4294967295) / 4294967296)))) AS "

#define SQL_OF_ROWS                                                            \
	" FROM clicks WHERE link_id != 0 AND "                                 \
	"has(splitByChar('\\n', {bound_owners:String}), toString(owner))"

/* Appends " UNION ALL" and a SELECT of the rows that are in no copied day, or
 * nothing if there are none. */
static void put_rows(struct buf *sql, const struct question *q,
		     const struct copied_days *days, const char *what,
		     const char *group_by)
{
	struct buf open = {0};

	if (clicks_sql_put_open(&open, q, days)) {
		buf_printf(sql, " UNION ALL SELECT %s" SQL_OF_ROWS "%s", what,
			   buf_cstr(&open));
		clicks_sql_put_once(sql, q, false);
		buf_puts(sql, group_by);
	}
	sql->failed |= open.failed;
	buf_free(&open);
}

/* Selects one row per slot: s, e, c, b, p, and the sets v and i. */
static void put_slots(struct buf *sql, const struct question *q,
		      const struct copied_days *days)
{
	const struct clicks_sql_sets *sets = &clicks_sql_sets[q->bots];
	const char *condition = clicks_sql_condition(q->bots);
	struct buf what = {0};

	buf_printf(sql,
		   "(SELECT slot AS s, " CLICKS_SQL_SETTLED
		   ", %s AS v, %s AS i" SQL_OF_SLOTS,
		   sets->visitors, sets->addresses);
	buf_printf(&what,
		   SQL_SLOT " AS s, " CLICKS_SQL_COUNTED ", groupUniqArrayIf("
			    "" SQL_OWNER_VISITOR ", %s) AS v, groupUniqArrayIf("
			    "" SQL_OWNER_ADDRESS ", %s) AS i",
		   condition, condition);
	put_rows(sql, q, days, buf_cstr(&what), " GROUP BY s");
	sql->failed |= what.failed;
	buf_free(&what);
	buf_putc(sql, ')');
}

/* Selects one row per value and day: v, e, c, b, p. */
static void put_values(struct buf *sql, const struct question *q,
		       const struct copied_days *days)
{
	const struct dimension *d = q->group_by[0];
	struct buf what = {0};

	buf_printf(sql,
		   "(SELECT value AS v, " CLICKS_SQL_SETTLED SQL_OF_VALUES
		   " AND NOT rest AND dimension = '%s'",
		   d->name);
	buf_printf(&what, "%s AS v, " CLICKS_SQL_COUNTED, d->expression);
	put_rows(sql, q, days, buf_cstr(&what), " GROUP BY v");
	sql->failed |= what.failed;
	buf_free(&what);
	buf_putc(sql, ')');
}

static void put_left_out(struct buf *sql, const struct question *q)
{
	buf_printf(sql,
		   " UNION ALL SELECT 'left_out' AS answer_part, 0 AS bucket, "
		   "" CLICKS_SQL_NO_VALUES CLICKS_SQL_SUMS
		   ", CAST(NULL AS Nullable(UInt64)) AS n_visitors, "
		   "CAST(NULL AS Nullable(UInt64)) AS n_ips FROM (SELECT "
		   "" CLICKS_SQL_SETTLED SQL_OF_REST " AND dimension = '%s')",
		   q->group_by[0]->name);
}

void owner_sql_clicks(struct buf *sql, const struct question *q,
		      const struct buckets *buckets,
		      const struct copied_days *days)
{
	clicks_sql_put_intervals(sql, "toUnixTimestamp(s)", buckets);
	buf_puts(sql,
		 CLICKS_SQL_SUMS ", " SQL_HOW_MANY(
			 "v") "n_visitors, " SQL_HOW_MANY("i") "n_ips FROM ");
	put_slots(sql, q, days);
	clicks_sql_put_sets(sql, buckets);
	if (q->group_by_count) {
		buf_puts(sql,
			 " UNION ALL SELECT * FROM (SELECT 'group' AS "
			 "answer_part, 0 AS bucket, toValidUTF8(v) AS "
			 "group_value, '' AS second_value, " CLICKS_SQL_SUMS
			 ", "
			 "CAST(NULL AS Nullable(UInt64)) AS n_visitors, "
			 "CAST(NULL AS Nullable(UInt64)) AS n_ips FROM ");
		put_values(sql, q, days);
		buf_printf(sql,
			   " GROUP BY group_value ORDER BY %s DESC, n_events "
			   "DESC, group_value LIMIT {limit:UInt64})",
			   clicks_sql_left(q->bots));
		put_left_out(sql, q);
	}
	buf_puts(sql, " FORMAT TabSeparated");
}

void owner_sql_links(struct buf *sql, const struct question *q,
		     const struct copied_days *days)
{
	buf_puts(sql,
		 "SELECT l AS link, is_now, " CLICKS_SQL_SUMS " FROM (SELECT "
		 "toUInt64OrZero(value) AS l, toDateTime(day, 'UTC') >= "
		 "toDateTime({start:UInt32}, 'UTC') AS is_now, "
		 "" CLICKS_SQL_SETTLED SQL_OF_VALUES " AND NOT rest "
		 "AND dimension = 'link'");
	put_rows(sql, q, days,
		 "link_id AS l, ts >= toDateTime64({start:UInt32}, 3, 'UTC') "
		 "AS is_now, " CLICKS_SQL_COUNTED,
		 " GROUP BY l, is_now");
	buf_puts(sql, ") GROUP BY link, is_now");
}

void owner_sql_links_left_out(struct buf *sql)
{
	buf_puts(sql, "SELECT sum(events)" SQL_OF_REST
		      " AND dimension = 'link' FORMAT TabSeparated");
}
