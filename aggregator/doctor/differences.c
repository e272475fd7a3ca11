#include "aggregator/doctor/differences.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/dimension.h"
#include "aggregator/settle/copied_days.h"
#include "aggregator/settle/day_attempts.h"
#include "common/buf.h"
#include "common/clickhouse/rows.h"

/* --- comparisons -----------------------------------------------------------
 */

#define SQL_PUBLISHED(kind)                                                    \
	"(SELECT unit, max(attempt) FROM settled WHERE kind = '" kind "' "     \
	"GROUP BY unit)"
#define SQL_DAY_OF(time) "toUInt32(toStartOfDay(" time "))"

/* Each selects d, n.  Partitions of clicks are days, so that no row of it is
 * read. */
#define SQL_ROWS                                                               \
	"SELECT toUInt32(toDateTime(toDate(_partition_id), 'UTC')) AS d, "     \
	"count() AS n FROM clicks GROUP BY d"
#define SQL_HOURS                                                              \
	"SELECT " SQL_DAY_OF("hour") " AS d, sum(events) AS n FROM "           \
				     "stats_hourly WHERE dimension = 'total' " \
				     "AND (hour, attempt) IN " SQL_PUBLISHED(  \
					     "hour") " GROUP BY d"
#define SQL_LINK_DAYS                                                          \
	"SELECT toUInt32(toDateTime(day, 'UTC')) AS d, sum(pv) AS n FROM "     \
	"link_days WHERE (toDateTime(day, 'UTC'), attempt) IN " SQL_PUBLISHED( \
		"link_day") " GROUP BY d"

/* Dimensions of many values are left out: an event may have no value. */
static bool is_settled(const struct dimension *d)
{
	return d->kind == DIMENSION_VISITORS || d->kind == DIMENSION_BUSIEST;
}

static bool is_of_owners(const struct dimension *d)
{
	return d != dimensions && is_settled(d);
}

static bool is_daily(const struct dimension *d)
{
	return d->kind == DIMENSION_DAILY;
}

#define OF_DIMENSION "toString(dimension)"

static const struct table_comparison {
	const char *name;
	const char *one; /* SQL: d, n */
	/* The other table: a row's time, its events, condition on rows. */
	const char *table, *at, *events, *which;
	/* The table's dimensions, each with all events; NULL: it has none. */
	bool (*has)(const struct dimension *d);
	const char *dimension; /* SQL: a row's dimension */
	const char *also;      /* SQL: a further dimension of the row */
	/* Columns and a condition of SQL_DAY_ATTEMPTS: the attempts, if they
	 * have all of the day.  NULL: `which` selects the attempts. */
	const char *newest, *is_current;
	/* Number of digits of a partition's name that are its day or month, if
	 * only some partitions are read. */
	unsigned digits;
	/* Compares only days that are not dropped and have rows in clicks. */
	bool with_rows;
} comparisons[COMPARED_KINDS] = {
	[COMPARED_ROWS] = {.name = "rows and settled hours",
			   .one = SQL_ROWS,
			   .table = "stats_hourly",
			   .at = "hour",
			   .events = "events",
			   .which = "dimension = 'total' AND (hour, attempt) "
				    "IN " SQL_PUBLISHED("hour"),
			   .with_rows = true},
	[COMPARED_HOUR_VALUES] = {.name = "dimensions of settled hours",
				  .one = SQL_HOURS,
				  .table = "stats_hourly",
				  .at = "hour",
				  .events = "events",
				  .which = "(hour, attempt) IN " SQL_PUBLISHED(
					  "hour"),
				  .has = is_settled,
				  .dimension = OF_DIMENSION,
				  .digits = 8},
	[COMPARED_LINK_SLOTS] = {.name = "link_days and link_slots",
				 .one = SQL_LINK_DAYS,
				 .table = "link_slots",
				 .at = "slot",
				 .events = "effective + ineffective",
				 .which = "(toStartOfDay(slot), attempt) "
					  "IN " SQL_PUBLISHED("link_day"),
				 .digits = 8},
	[COMPARED_SEALED] = {.name = "settled days and sealed_slots",
			     .one = SQL_LINK_DAYS,
			     .table = "sealed_slots",
			     .at = "slot",
			     .events = "events",
			     .newest = "n_sealed",
			     .is_current = SQL_IS_SEALED},
	[COMPARED_OWNERS] = {.name = "settled days and owner_slots",
			     .one = SQL_LINK_DAYS,
			     .table = "owner_slots",
			     .at = "slot",
			     .events = "events",
			     .newest = "n_owner",
			     .is_current = SQL_IS_OWNED},
	[COMPARED_OWNER_VALUES] = {.name = "settled days and owner_values",
				   .one = SQL_LINK_DAYS,
				   .table = "owner_values",
				   .at = "toDateTime(day, 'UTC')",
				   .events = "events",
				   .has = is_of_owners,
				   .dimension = OF_DIMENSION,
				   .newest = "n_owner",
				   .is_current = SQL_IS_OWNED,
				   .digits = 6},
	[COMPARED_OWNER_DAILY] = {.name = "settled days and owner_values",
				  .one = SQL_LINK_DAYS,
				  .table = "owner_values",
				  .at = "toDateTime(day, 'UTC')",
				  .events = "events",
				  .has = is_daily,
				  .dimension = OF_DIMENSION,
				  .newest = "n_value",
				  .is_current = SQL_IS_VALUED,
				  .digits = 6},
	[COMPARED_VALUES] = {.name = "settled hours and day_values",
			     .one = SQL_HOURS,
			     .table = "day_values",
			     .at = "toDateTime(day, 'UTC')",
			     .events = "events",
			     .has = is_daily,
			     .dimension = OF_DIMENSION,
			     .newest = "n_value",
			     .is_current = SQL_IS_VALUED},
	[COMPARED_ROLLUPS] = {.name = "settled hours and stats_spans",
			      .one = SQL_HOURS,
			      .table = "stats_spans",
			      .at = "span_start",
			      .events = "events",
			      .has = is_settled,
			      .dimension = "if(span = 3600, 'hours', "
					   "toString(dimension))",
			      .also = ", 'hours'",
			      .newest = "n_rolled",
			      .is_current = SQL_IS_ROLLED},
};

/* --- days ------------------------------------------------------------------
 */

struct days {
	/* "[...]": the days of copies; their attempts; partitions that are not
	 * read, by the digits of their names. */
	struct buf starts, attempts, skipped;
	struct difference_list *list;
};

static void days_release(struct days *days)
{
	buf_free(&days->starts);
	buf_free(&days->attempts);
	buf_free(&days->skipped);
}

/* A row is: starts, attempts. */
static int take_copies(void *arg, char **f, struct error *err)
{
	struct days *days = arg;

	buf_puts(&days->starts, f[0]);
	buf_puts(&days->attempts, f[1]);
	return days->starts.failed || days->attempts.failed
		       ? error_set_nomem(err)
		       : 0;
}

static int read_copies(struct clickhouse *ch, const struct table_comparison *c,
		       struct days *days, struct error *err)
{
	struct buf sql = {0};
	int status;

	if (!c->newest)
		return 0;
	buf_printf(&sql,
		   "SELECT groupArray(toUInt32(d)), groupArray(%s) FROM "
		   "" SQL_DAY_ATTEMPTS "WHERE %s",
		   c->newest, c->is_current);
	status = buf_cstr(&sql) ? clickhouse_rows(ch, sql.data, NULL, "ss",
						  take_copies, days, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status;
}

/* A row is: number of partitions, number that are read, names of the others. */
static int take_partitions(void *arg, char **f, struct error *err)
{
	struct days *days = arg;

	days->list->partitions = tsv_u64(f[0]);
	days->list->looked = tsv_u64(f[1]);
	buf_puts(&days->skipped, f[2]);
	return days->skipped.failed ? error_set_nomem(err) : 0;
}

/* Chooses the partitions to read.  The one that was written last is read
 * however large it is. */
static int choose_partitions(struct clickhouse *ch,
			     const struct table_comparison *c, int64_t rows_max,
			     struct days *days, struct error *err)
{
	static const char sql[] =
		"SELECT count(), countIf(rows_before < {rows_max:Int64}), "
		"groupArrayIf(id, rows_before >= {rows_max:Int64}) FROM "
		"(SELECT id, toInt64(sum(n) OVER (ORDER BY written DESC, "
		"id DESC)) - toInt64(n) AS rows_before FROM "
		"(SELECT substring(partition_id, 1, {digits:UInt8}) AS id, "
		"sum(rows) AS n, max(modification_time) AS written "
		"FROM system.parts WHERE database = currentDatabase() AND "
		"table = {of:String} AND active AND rows > 0 GROUP BY id))";
	char max[24], digits[12];
	const struct clickhouse_param params[] = {{"param_rows_max", max},
						  {"param_digits", digits},
						  {"param_of", c->table},
						  {NULL, NULL}};

	if (!c->digits)
		return 0;
	days->list->are_months = c->digits == 6;
	snprintf(max, sizeof(max), "%" PRId64, rows_max);
	snprintf(digits, sizeof(digits), "%u", c->digits);
	return clickhouse_rows(ch, sql, params, "nns", take_partitions, days,
			       err);
}

/* --- comparing --------------------------------------------------------------
 */

static void put_names(struct buf *sql, const struct table_comparison *c)
{
	const char *before = "";

	if (!c->has)
		buf_puts(sql, "''");
	for (size_t i = 0; c->has && i < dimension_count; i++) {
		if (!c->has(&dimensions[i]))
			continue;
		buf_printf(sql, "%s'%s'", before, dimensions[i].name);
		before = ", ";
	}
}

/* Selects d, m, n: the events of each day and dimension. */
static void put_other(struct buf *sql, const struct table_comparison *c)
{
	buf_printf(sql,
		   "SELECT " SQL_DAY_OF("%s") " AS d, %s AS m, sum(%s) AS n, "
					      "false AS is_one FROM %s WHERE ",
		   c->at, c->has ? c->dimension : "''", c->events, c->table);
	if (c->newest)
		buf_printf(
			sql,
			COPIED_DAYS_SQL("days", "attempts", SQL_DAY_OF("%s")),
			c->at);
	else
		buf_puts(sql, c->which);
	if (c->has) {
		buf_puts(sql, " AND dimension IN (");
		put_names(sql, c);
		buf_putc(sql, ')');
	}
	if (c->digits)
		buf_printf(sql,
			   " AND NOT has({skipped:Array(String)}, "
			   "substring(_partition_id, 1, %u))",
			   c->digits);
	buf_puts(sql, " GROUP BY d, m");
}

/* Counts of dropped months are deleted, or about to be, so they are left
 * out. */
static void put_which_days(struct buf *sql, const struct table_comparison *c)
{
	buf_puts(sql, "toDateTime(d, 'UTC') >= (SELECT max(unit) FROM settled "
		      "WHERE kind = 'kept_from')");
	if (c->with_rows)
		buf_puts(sql, " AND NOT is_dropped");
	if (c->newest)
		buf_puts(sql, " AND has({days:Array(UInt32)}, d)");
	if (c->digits)
		buf_printf(sql,
			   " AND NOT has({skipped:Array(String)}, "
			   "substring(toString(toYYYYMMDD(toDateTime(d, "
			   "'UTC'))), 1, %u))",
			   c->digits);
}

static void put_comparison(struct buf *sql, const struct table_comparison *c)
{
	buf_puts(sql,
		 "SELECT d, n_one, found[wrong[1]], length(wrong), wrong[1], "
		 "is_dropped FROM (SELECT d, sumIf(n, is_one) AS n_one, "
		 "CAST((groupArrayIf(m, NOT is_one), groupArrayIf(n, NOT "
		 "is_one)), 'Map(String, UInt64)') AS found, "
		 "arrayFilter(x -> found[x] != n_one, [");
	put_names(sql, c);
	buf_printf(sql,
		   "%s]) AS wrong, d IN (SELECT toUInt32(unit) FROM settled "
		   "WHERE kind = 'dropped_day') AS is_dropped FROM ("
		   "SELECT d, '' AS m, n, true AS is_one FROM (%s) UNION ALL ",
		   c->also ? c->also : "", c->one);
	put_other(sql, c);
	buf_puts(sql, ") WHERE ");
	put_which_days(sql, c);
	buf_puts(sql, " GROUP BY d HAVING notEmpty(wrong)) ORDER BY d");
}

/* A row is: day, one, other, dimensions, the first of them, dropped. */
static int take_difference(void *arg, char **f, struct error *err)
{
	struct difference_list *list = arg;
	struct difference *more =
		reallocarray(list->items, list->count + 1, sizeof(*more));

	if (!more)
		return error_set_nomem(err);
	list->items = more;
	more += list->count++;
	*more = (struct difference){
		.day = tsv_i64(f[0]),
		.one = tsv_u64(f[1]),
		.other = tsv_u64(f[2]),
		.dimensions = tsv_u64(f[3]),
		.dropped = tsv_u64(f[5]) > 0,
	};
	snprintf(more->first, sizeof(more->first), "%s", f[4]);
	return 0;
}

static int query_differences(struct clickhouse *ch,
			     const struct table_comparison *c,
			     struct days *days, struct error *err)
{
	const struct clickhouse_param params[] = {
		{"param_days", buf_cstr(&days->starts)},
		{"param_attempts", buf_cstr(&days->attempts)},
		{"param_skipped", buf_cstr(&days->skipped)},
		{NULL, NULL}};
	struct buf sql = {0};
	bool complete = params[0].value && params[1].value && params[2].value;
	int status;

	put_comparison(&sql, c);
	status = buf_cstr(&sql) && complete
			 ? clickhouse_rows(ch, sql.data, params, "nnnnsn",
					   take_difference, days->list, err)
			 : error_set_nomem(err);
	buf_free(&sql);
	return status;
}

int differences_find(struct clickhouse *ch, enum compared what,
		     int64_t rows_max, struct difference_list *ret,
		     struct error *err)
{
	const struct table_comparison *c = &comparisons[what];
	struct days days = {.list = ret};
	int status;

	*ret = (struct difference_list){0};
	status = read_copies(ch, c, &days, err);
	if (status == 0)
		status = choose_partitions(ch, c, rows_max, &days, err);
	if (status == 0)
		status = query_differences(ch, c, &days, err);
	days_release(&days);
	return status < 0 ? error_wrap(err, "%s", c->name) : 0;
}

/* --- lists ------------------------------------------------------------------
 */

void difference_list_release(struct difference_list *list)
{
	free(list->items);
	*list = (struct difference_list){0};
}

static const struct difference *
find_day_difference(const struct difference_list *list, int64_t day)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].day == day)
			return &list->items[i];
	return NULL;
}

static bool is_same(const struct difference *a, const struct difference *b)
{
	return a->one == b->one && a->other == b->other &&
	       a->dimensions == b->dimensions && !strcmp(a->first, b->first);
}

void difference_list_keep(struct difference_list *list,
			  const struct difference_list *later)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct difference *d = &list->items[i];
		const struct difference *again =
			find_day_difference(later, d->day);

		if (again && is_same(again, d))
			list->items[kept++] = *d;
	}
	list->count = kept;
}
