#include "aggregator/doctor/differences.h"

#include <stdlib.h>

#include "aggregator/settle/copied_days.h"
#include "common/buf.h"
#include "common/clickhouse/rows.h"

void difference_list_release(struct difference_list *list)
{
	free(list->items);
	*list = (struct difference_list){0};
}

static int add(void *arg, char **f, struct error *err)
{
	struct difference_list *list = arg;
	struct difference *more =
		reallocarray(list->items, list->count + 1, sizeof(*more));

	if (!more)
		return error_set_nomem(err);
	list->items = more;
	more[list->count++] = (struct difference){
		.day = tsv_i64(f[0]),
		.one = tsv_u64(f[1]),
		.other = tsv_u64(f[2]),
	};
	return 0;
}

#define SQL_HAVING                                                             \
	") GROUP BY d HAVING sum(n_one) != sum(n_other) ORDER BY d "           \
	"FORMAT TabSeparated"
#define SQL_COMPARED "SELECT d, sum(n_one), sum(n_other) FROM ("

/* Rows of days that were dropped are gone, or about to. */
#define SQL_HAS_ROWS                                                           \
	"d NOT IN (SELECT toUInt32(unit) FROM settled WHERE "                  \
	"kind = 'dropped_day') "

/* Partitions of clicks are days, so that no row of it is read. */
int differences_of_hours(struct clickhouse *ch, struct difference_list *ret,
			 struct error *err)
{
	static const char sql[] = SQL_COMPARED
		"SELECT toUInt32(toDateTime(toDate(_partition_id), 'UTC')) AS "
		"d, "
		"count() AS n_one, toUInt64(0) AS n_other FROM clicks "
		"GROUP BY d HAVING " SQL_HAS_ROWS "UNION ALL "
		"SELECT toUInt32(toStartOfDay(hour)) AS d, toUInt64(0) AS "
		"n_one, "
		"sum(events) AS n_other FROM stats_hourly "
		"WHERE dimension = 'total' AND (hour, attempt) IN "
		"(SELECT unit, max(attempt) FROM settled WHERE kind = 'hour' "
		"GROUP BY unit) GROUP BY d HAVING " SQL_HAS_ROWS SQL_HAVING;

	*ret = (struct difference_list){0};
	if (clickhouse_rows(ch, sql, NULL, "nnn", add, ret, err) < 0)
		return error_wrap(err, "rows and settled hours");
	return 0;
}

#define SQL_IN_DAYS(day)                                                       \
	"has({days:Array(UInt32)}, toUInt32(toStartOfDay(" day "))) "

#define SQL_LINK_DAYS                                                          \
	"SELECT toUInt32(toDateTime(day, 'UTC')) AS d, sum(pv) AS n_one, "     \
	"toUInt64(0) AS n_other FROM link_days WHERE (toDateTime(day, "        \
	"'UTC'), "                                                             \
	"attempt) IN (SELECT unit, max(attempt) FROM settled WHERE "           \
	"kind = 'link_day' GROUP BY unit) AND " SQL_IN_DAYS(                   \
		"toDateTime(day, 'UTC')") "GROUP BY d"
#define SQL_HOURS                                                              \
	"SELECT toUInt32(toStartOfDay(hour)) AS d, sum(events) AS n_one, "     \
	"toUInt64(0) AS n_other FROM stats_hourly WHERE dimension = 'total' "  \
	"AND (hour, attempt) IN (SELECT unit, max(attempt) FROM settled "      \
	"WHERE kind = 'hour' GROUP BY unit) AND " SQL_IN_DAYS(                 \
		"hour") "GROUP BY d"

/* What a day is copied from, and where the copy has an event once. */
static const struct {
	const char *source, *table, *at, *which;
} copies[COPIED_KINDS] = {
	[COPIED_LINKS] = {SQL_LINK_DAYS, "sealed_slots", "slot", ""},
	[COPIED_OWNERS] = {SQL_LINK_DAYS, "owner_slots", "slot", ""},
	[COPIED_VALUES] = {SQL_HOURS, "day_values", "toDateTime(day, 'UTC')",
			   "dimension = 'continent' AND "},
	[COPIED_TOTALS] = {SQL_HOURS, "stats_spans", "span_start",
			   "dimension = 'total' AND span = 86400 AND "},
};

static int compare_copies(struct clickhouse *ch, enum copied which,
			  const char *starts, const char *attempts,
			  struct difference_list *ret, struct error *err)
{
	const struct clickhouse_param params[] = {{"param_days", starts},
						  {"param_attempts", attempts},
						  {NULL, NULL}};
	struct buf sql = {0};
	int status;

	buf_printf(&sql,
		   SQL_COMPARED
		   "%s UNION ALL SELECT toUInt32(toStartOfDay(%s)) AS d, "
		   "toUInt64(0) AS n_one, sum(events) AS n_other FROM %s "
		   "WHERE %s" COPIED_DAYS_SQL(
			   "days", "attempts",
			   "toUInt32(toStartOfDay(%s))") " GROUP BY "
							 "d" SQL_HAVING,
		   copies[which].source, copies[which].at, copies[which].table,
		   copies[which].which, copies[which].at);
	status = buf_cstr(&sql) ? clickhouse_rows(ch, sql.data, params, "nnn",
						  add, ret, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status;
}

static int differences_of_copies(struct clickhouse *ch, enum copied which,
				 struct difference_list *ret, struct error *err)
{
	struct copied_days days;
	struct buf starts = {0}, attempts = {0};
	int status;

	*ret = (struct difference_list){0};
	if (copied_days_read(ch, which, &days, err) < 0)
		return -1;
	status = copied_days_put(&days, &starts, &attempts, err);
	if (status == 0)
		status = compare_copies(ch, which, starts.data, attempts.data,
					ret, err);
	buf_free(&starts);
	buf_free(&attempts);
	copied_days_release(&days);
	return status < 0 ? error_wrap(err, "settled days and %s",
				       copies[which].table)
			  : 0;
}

int differences_of_sealed(struct clickhouse *ch, struct difference_list *ret,
			  struct error *err)
{
	return differences_of_copies(ch, COPIED_LINKS, ret, err);
}

int differences_of_owners(struct clickhouse *ch, struct difference_list *ret,
			  struct error *err)
{
	return differences_of_copies(ch, COPIED_OWNERS, ret, err);
}

int differences_of_values(struct clickhouse *ch, struct difference_list *ret,
			  struct error *err)
{
	return differences_of_copies(ch, COPIED_VALUES, ret, err);
}

int differences_of_rollups(struct clickhouse *ch, struct difference_list *ret,
			   struct error *err)
{
	return differences_of_copies(ch, COPIED_TOTALS, ret, err);
}

static const struct difference *find(const struct difference_list *list,
				     int64_t day)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].day == day)
			return &list->items[i];
	return NULL;
}

void difference_list_keep(struct difference_list *list,
			  const struct difference_list *later)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct difference *d = &list->items[i];
		const struct difference *again = find(later, d->day);

		if (again && again->one == d->one && again->other == d->other)
			list->items[kept++] = *d;
	}
	list->count = kept;
}
