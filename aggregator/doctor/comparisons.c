/*
 * Finds days for which two tables that should agree differ, in each dimension
 * that a table has.
 *
 * Clicks that come in make any two tables differ for a moment, so each day is
 * searched twice, and counts if it has both numbers again.  Copies are
 * compared only while nothing of their day was published later, and months
 * whose counts were dropped not at all: such differences are repaired, or
 * deleted, without intervention.
 *
 * In tables that have a row for each value of each owner, hour or link, only a
 * limited number of rows is read: those of the days or months that were written
 * last, and days that have no rows at all.  Older days or months are one part
 * each, which cannot be lost in part.
 */
#include "aggregator/doctor/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/dimension.h"
#include "aggregator/settle/day_attempts.h"
#include "aggregator/zone/civil.h"
#include "common/buf.h"
#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"
#include "common/clock.h"

/* A comparison of a table with the hours, or the days of links, that it was
 * settled from. */
struct compared {
	const struct derived *row;
	const struct derived_table *table;
	/* Rows of clicks are compared with the totals of this table instead. */
	bool of_rows;
};

struct difference {
	int64_t day; /* its start, seconds since 1970, UTC */
	uint64_t one, other;
	uint64_t dimensions; /* number that differ from `one` */
	char first[24]; /* the first of these, which has `other`; "": none */
	bool dropped;	/* rows of the day are no longer in clicks */
};

struct difference_list {
	struct difference *items; /* by day */
	size_t count;
	/* Days or months in the other table, and how many of them were read. */
	uint64_t partitions, looked;
	bool are_months;
};

/* --- lists ------------------------------------------------------------------
 */

static void difference_list_release(struct difference_list *list)
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

/* Keeps the items of `list` that `later` has with the same numbers. */
static void difference_list_keep(struct difference_list *list,
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

/* --- comparisons -----------------------------------------------------------
 */

static bool has_dimensions(const struct compared *c)
{
	return c->table->has && !c->of_rows;
}

static bool is_read_in_part(const struct compared *c)
{
	return c->table->is_large && !c->of_rows;
}

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

/* Selects the days of a copy, and their attempts. */
static void put_copies(struct buf *sql, const struct derived *copy)
{
	static const char text[] =
#include "aggregator/sql/compared_copies.sql.inc"
		;
	struct buf attempts = {0}, is_current = {0};

	day_attempts_put(&attempts);
	day_attempts_put_is_current(&is_current, copy);
	const struct statement_blank blanks[] = {
		{"newest", copy->newest},
		{"day_attempts", statement_piece(sql, &attempts)},
		{"is_current", statement_piece(sql, &is_current)},
		{NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&attempts);
	buf_free(&is_current);
}

static int read_copies(struct clickhouse *ch, const struct compared *c,
		       struct days *days, struct error *err)
{
	struct buf sql = {0};
	int status;

	if (!c->row->newest)
		return 0;
	put_copies(&sql, c->row);
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
static int choose_partitions(struct clickhouse *ch, const struct compared *c,
			     int64_t rows_max, struct days *days,
			     struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/compared_partitions.sql.inc"
		;
	char max[24], digits[12];
	const struct clickhouse_param params[] = {{"param_rows_max", max},
						  {"param_digits", digits},
						  {"param_of", c->table->name},
						  {NULL, NULL}};

	if (!is_read_in_part(c))
		return 0;
	days->list->are_months = c->table->by == DERIVED_BY_MONTH;
	snprintf(max, sizeof(max), "%" PRId64, rows_max);
	snprintf(digits, sizeof(digits), "%u", c->table->by);
	return clickhouse_rows(ch, sql, params, "nns", take_partitions, days,
			       err);
}

/* --- comparing --------------------------------------------------------------
 */

/* Writes the names of the dimensions that are compared. */
static void put_names(struct buf *sql, const struct compared *c)
{
	const char *before = "";

	if (!has_dimensions(c))
		buf_puts(sql, "''");
	for (size_t i = 0; has_dimensions(c) && i < dimension_count; i++) {
		if (!c->table->has(&dimensions[i]))
			continue;
		buf_printf(sql, "%s'%s'", before, dimensions[i].name);
		before = ", ";
	}
}

/* Writes a condition: rows of the table are published. */
static void put_is_published(struct buf *sql, const struct compared *c)
{
	static const char of_copy[] =
#include "aggregator/sql/parts/is_of_listed_day.sql.inc"
		;
	static const char of_unit[] =
#include "aggregator/sql/parts/is_published_unit.sql.inc"
		;
	const struct statement_blank blanks[] = {{"at", c->table->at},
						 {"unit", c->row->unit},
						 {"kind", c->row->kind},
						 {NULL, NULL}};

	if (c->of_rows)
		buf_puts(sql, "dimension = 'total' AND ");
	statement_put(sql, c->row->newest ? of_copy : of_unit, blanks);
}

/* Writes a condition: rows of the table are compared. */
static void put_is_compared(struct buf *sql, const struct compared *c)
{
	put_is_published(sql, c);
	if (has_dimensions(c)) {
		buf_puts(sql, " AND dimension IN (");
		put_names(sql, c);
		buf_putc(sql, ')');
	}
	if (is_read_in_part(c))
		buf_printf(sql,
			   " AND NOT has({skipped:Array(String)}, "
			   "substring(_partition_id, 1, %u))",
			   c->table->by);
}

static const char *dimension_of(const struct compared *c)
{
	if (!has_dimensions(c))
		return "''";
	return c->table->dimension ? c->table->dimension
				   : "toString(dimension)";
}

/* Selects d, m, n: the events of each day and dimension. */
static void put_other(struct buf *sql, const struct compared *c)
{
	static const char text[] =
#include "aggregator/sql/compared_table.sql.inc"
		;
	struct buf is_compared = {0};

	put_is_compared(&is_compared, c);
	const struct statement_blank blanks[] = {
		{"at", c->table->at},
		{"dimension", dimension_of(c)},
		{"events", c->table->events},
		{"table", c->table->name},
		{"is_compared", statement_piece(sql, &is_compared)},
		{NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&is_compared);
}

static void put_which_days(struct buf *sql, const struct compared *c)
{
	if (c->of_rows)
		buf_puts(sql, " AND NOT is_dropped");
	if (c->row->newest)
		buf_puts(sql, " AND has({days:Array(UInt32)}, d)");
	if (is_read_in_part(c))
		buf_printf(sql,
			   " AND NOT has({skipped:Array(String)}, "
			   "substring(toString(toYYYYMMDD(toDateTime(d, "
			   "'UTC'))), 1, %u))",
			   c->table->by);
}

/* Returns the numbers that those of the table must be; selects d, n. */
static const char *one_of(const struct compared *c)
{
	/* Partitions of clicks are days, so that no row of it is read. */
	static const char rows[] =
#include "aggregator/sql/compared_rows.sql.inc"
		;
	static const char hours[] =
#include "aggregator/sql/compared_hours.sql.inc"
		;
	static const char link_days[] =
#include "aggregator/sql/compared_link_days.sql.inc"
		;

	if (c->of_rows)
		return rows;
	return c->table->of_links ? link_days : hours;
}

/* Counts of dropped months are deleted, or about to be, so they are left
 * out. */
static void put_comparison(struct buf *sql, const struct compared *c)
{
	static const char text[] =
#include "aggregator/sql/comparison.sql.inc"
		;
	struct buf names = {0}, other = {0}, which_days = {0};

	put_names(&names, c);
	buf_puts(&names, c->table->also ? c->table->also : "");
	put_other(&other, c);
	put_which_days(&which_days, c);
	const struct statement_blank blanks[] = {
		{"dimensions", statement_piece(sql, &names)},
		{"one", one_of(c)},
		{"other", statement_piece(sql, &other)},
		{"and_which_days", statement_piece(sql, &which_days)},
		{NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&names);
	buf_free(&other);
	buf_free(&which_days);
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

static int query_differences(struct clickhouse *ch, const struct compared *c,
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

/* Reads about `rows_max` rows of a large table.  The caller releases the list
 * also after a failure. */
static int differences_find(struct clickhouse *ch, const struct compared *c,
			    int64_t rows_max, struct difference_list *ret,
			    struct error *err)
{
	struct days days = {.list = ret};
	int status;

	*ret = (struct difference_list){0};
	status = read_copies(ch, c, &days, err);
	if (status == 0)
		status = choose_partitions(ch, c, rows_max, &days, err);
	if (status == 0)
		status = query_differences(ch, c, &days, err);
	days_release(&days);
	return status < 0 ? error_wrap(err, "settled %s and %s",
				       c->table->of_links ? "days" : "hours",
				       c->of_rows ? "clicks" : c->table->name)
			  : 0;
}

/* --- the page ---------------------------------------------------------------
 */

/* Delay before differences are queried again. */
#define AGAIN_MS 3000

/* A line of the page: its name, and those of the numbers. */
struct compared_pair {
	struct compared compared;
	const char *what, *one, *other;
};

/* Writes " in city and 4 dimensions more". */
static void name_dimensions(const struct difference *it, char ret[96])
{
	*ret = '\0';
	if (*it->first && it->dimensions > 1)
		snprintf(ret, 96, " in %s and %" PRIu64 " dimension%s more",
			 it->first, it->dimensions - 1,
			 doctor_plural(it->dimensions - 1));
	else if (*it->first)
		snprintf(ret, 96, " in %s", it->first);
}

/* Writes how to repair a difference: settled counts that are gone can be made
 * again from rows, while these exist. */
static void name_remedy(const struct compared *c, const struct difference *it,
			char ret[160])
{
	char from[CIVIL_NAME_MAX], to[CIVIL_NAME_MAX];

	if (c->of_rows && it->one < it->other)
		snprintf(ret, 160, "rows are gone: see 'collector verify'");
	else if (it->dropped)
		snprintf(ret, 160,
			 "the day's rows are dropped: only a backup has it");
	else
		snprintf(ret, 160, "run 'aggregator settle --from %s --to %s'",
			 civil_day_name(it->day, from),
			 civil_day_name(it->day + CLOCK_DAY / 1000, to));
}

static void say_difference(struct doctor *d, const struct compared_pair *c,
			   const struct difference *it)
{
	char day[CIVIL_NAME_MAX], by[96], remedy[160];

	name_dimensions(it, by);
	name_remedy(&c->compared, it, remedy);
	doctor_say(d, DOCTOR_WRONG, c->what,
		   "%s: %" PRIu64 " %s, %" PRIu64 " %s%s; %s",
		   civil_day_name(it->day, day), it->one, c->one, it->other,
		   c->other, by, remedy);
}

static void say_differences(struct doctor *d, const struct compared_pair *c,
			    const struct difference_list *list)
{
	size_t count = 0;
	char looked[96] = "";

	for (size_t i = 0; i < list->count; i++) {
		if (doctor_is_stale(d, list->items[i].day))
			continue;
		if (count++ < DOCTOR_DAYS_SHOWN)
			say_difference(d, c, &list->items[i]);
	}
	if (list->looked < list->partitions)
		snprintf(looked, sizeof(looked),
			 "; in the %" PRIu64 " of %" PRIu64
			 " %s written last (raw_rows_max)",
			 list->looked, list->partitions,
			 list->are_months ? "months" : "days");
	if (count > DOCTOR_DAYS_SHOWN)
		doctor_say(d, DOCTOR_WRONG, c->what, "and %zu more days",
			   count - DOCTOR_DAYS_SHOWN);
	if (!count)
		doctor_say(d, DOCTOR_FINE, c->what,
			   "as many %s as %s, day by day%s", c->one, c->other,
			   looked);
}

/* Rows that were stored after the page began wait to be settled, too. */
static int read_stale_again(struct doctor *d, struct error *err)
{
	stale_list_release(&d->hours);
	return progress_stale_hours(d->ch, 0, 0, true, &d->hours, err);
}

/* Clicks that come in during the queries make tables differ for a moment: a
 * difference counts only if it has the same numbers some seconds later, and no
 * hour of its day waits by then. */
static int confirm_differences(struct doctor *d, const struct compared *c,
			       struct difference_list *list, struct error *err)
{
	struct difference_list later;
	int status;

	if (app_should_stop(d->app, AGAIN_MS))
		return error_set(err, ERROR_STOPPED, "stopped");
	if (read_stale_again(d, err) < 0)
		return -1;
	status = differences_find(d->ch, c, d->settings->raw_rows_max, &later,
				  err);
	if (status == 0)
		difference_list_keep(list, &later);
	difference_list_release(&later);
	return status;
}

static int check_comparison(struct doctor *d, const struct compared_pair *c,
			    struct error *err)
{
	struct difference_list list;
	int status = differences_find(d->ch, &c->compared,
				      d->settings->raw_rows_max, &list, err);

	if (status == 0 && list.count)
		status = confirm_differences(d, &c->compared, &list, err);
	if (status == 0)
		say_differences(d, c, &list);
	difference_list_release(&list);
	return status;
}

static int compare_rows(struct doctor *d, struct error *err)
{
	const struct derived *hours = &derived_tables[DERIVED_HOURS];
	const struct compared_pair rows = {
		{.row = hours, .table = &hours->tables[0], .of_rows = true},
		"rows",
		"rows of clicks",
		"events in hours"};

	return check_comparison(d, &rows, err);
}

static int compare_table(struct doctor *d, const struct derived *row,
			 const struct derived_table *table, struct error *err)
{
	const struct compared_pair pair = {{.row = row, .table = table},
					   table->compared,
					   table->of_links ? "visits in days"
							   : "events in hours",
					   table->counted};

	return table->compared ? check_comparison(d, &pair, err) : 0;
}

int look_at_comparisons(struct doctor *d, struct error *err)
{
	if (compare_rows(d, err) < 0)
		return -1;
	for (size_t i = 0; i < DERIVED_ROWS; i++)
		for (size_t t = 0; t < DERIVED_TABLES_MAX; t++)
			if (compare_table(d, &derived_tables[i],
					  &derived_tables[i].tables[t],
					  err) < 0)
				return -1;
	return 0;
}
