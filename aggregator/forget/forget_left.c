#include "aggregator/forget/forget_left.h"

#include "aggregator/settle/derived_tables.h"
#include "common/buf.h"
#include "common/clickhouse/rows.h"

/*
 * Days that were changed: the time of the last change, as the number of an
 * attempt (settling_attempt_at), and the hours that were changed.  Only greater
 * attempts of an hour are settled from the changed rows.
 */
#define SQL_CHANGED                                                            \
	"WITH changed AS (SELECT toDateTime(day, 'UTC') AS c_day, "            \
	"bitShiftLeft(toUInt64(toUnixTimestamp64Milli(max(at))), 20) AS "      \
	"c_number, groupUniqArrayArray(hours) AS c_hours FROM rescored "       \
	"WHERE rules = 0 AND import = '' AND state = 'done' AND "              \
	"at > now64(3, 'UTC') - toIntervalDay(7) AND toDateTime(day, 'UTC') "  \
	"NOT IN (SELECT unit FROM settled WHERE kind = 'dropped_day') "        \
	"GROUP BY day), "                                                      \
	"hourly AS (SELECT toDateTime(arrayJoin(c_hours), 'UTC') AS c_hour, "  \
	"c_number FROM changed) "

/* Hours whose newest attempt is from before the change. */
#define SQL_WAITING                                                            \
	"(SELECT count() FROM (SELECT unit AS u, max(attempt) AS a FROM "      \
	"settled WHERE kind IN ('hour', 'held_hour') AND "                     \
	"unit IN (SELECT c_hour FROM hourly) GROUP BY u) AS s "                \
	"INNER JOIN hourly ON s.u = hourly.c_hour WHERE a < c_number)"

/* Each attempt has rows of `total`.  Attempts of an hour that is held back
 * stay. */
#define SQL_HOURS                                                              \
	"(SELECT uniqExact(hour, attempt) FROM stats_hourly AS t "             \
	"INNER JOIN hourly ON t.hour = hourly.c_hour WHERE "                   \
	"dimension = 'total' AND hour IN (SELECT c_hour FROM hourly) AND "     \
	"attempt < c_number AND (hour, attempt) NOT IN (SELECT unit, "         \
	"maxIf(attempt, kind = 'hour') FROM settled WHERE "                    \
	"kind IN ('hour', 'held_hour') GROUP BY unit "                         \
	"HAVING argMax(kind, attempt) = 'held_hour'))"

/*
 * An attempt's rows are deleted before its marker, so markers are counted.  A
 * copy made from hours before their new attempts is old, whenever it was begun.
 */
static void put_copies(struct buf *sql)
{
	buf_puts(sql,
		 "(SELECT count() FROM settled AS m INNER JOIN (SELECT c_day, "
		 "greatest(any(c_number), max(attempt)) AS n_number FROM "
		 "settled INNER JOIN changed ON toStartOfDay(settled.unit) = "
		 "changed.c_day WHERE kind = 'hour' AND "
		 "has(c_hours, toUInt32(unit)) GROUP BY c_day) AS n "
		 "ON m.unit = n.c_day WHERE kind IN (");
	derived_put_markers(sql);
	buf_puts(sql,
		 ") AND attempt < n_number AND unit NOT IN (SELECT unit FROM "
		 "settled WHERE kind IN ('link_day', 'held_day') "
		 "GROUP BY unit HAVING argMax(kind, attempt) = 'held_day'))");
}

int forget_left_count(struct clickhouse *ch, struct forget_left *ret,
		      struct error *err)
{
	struct buf sql = {0};
	uint64_t n[3] = {0};
	int status;

	buf_puts(&sql, SQL_CHANGED "SELECT " SQL_WAITING ", " SQL_HOURS ", ");
	put_copies(&sql);
	buf_puts(&sql, " FORMAT TabSeparated");
	status = buf_cstr(&sql)
			 ? clickhouse_numbers(ch, sql.data, NULL, n, 3, err)
			 : error_set_nomem(err);
	buf_free(&sql);
	if (status < 0)
		return error_wrap(err, "what was settled before");
	*ret = (struct forget_left){n[0], n[1], n[2]};
	return 0;
}
