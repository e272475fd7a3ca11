#include "aggregator/api/statistics/clicks_sql.h"

#include <inttypes.h>
#include <stdio.h>

#include "aggregator/settle/repeats.h"
#include "aggregator/zone/civil.h"
#include "common/clickhouse/statement.h"

static const char *const left[] = {
	[BOTS_EXCLUDE] = "n_clicks - n_bots - n_prefetches",
	[BOTS_INCLUDE] = "n_clicks",
	[BOTS_ONLY] = "n_bots + n_prefetches",
};

static const char is_human[] =
#include "aggregator/sql/parts/is_human.sql.inc"
	;
static const char is_click[] =
#include "aggregator/sql/parts/is_click.sql.inc"
	;
static const char is_not_human[] =
#include "aggregator/sql/parts/is_not_human.sql.inc"
	;

/* The conditions on rows of `clicks` that count for visitors. */
static const char *const conditions[] = {
	[BOTS_EXCLUDE] = is_human,
	[BOTS_INCLUDE] = is_click,
	[BOTS_ONLY] = is_not_human,
};

const char *clicks_sql_left(enum bots_mode mode)
{
	return left[mode];
}

const char *clicks_sql_condition(enum bots_mode mode)
{
	return conditions[mode];
}

/* Rounds an instant down to the start of its bucket.  The bounds are constants
 * of the query, which ClickHouse searches by bisection. */
static void put_bucket(struct buf *sql, const char *seconds,
		       const struct buckets *buckets)
{
	/* One constant: for 720 constants ClickHouse's analyzer would make 720
	 * nodes, which took a third of the time of a question. */
	buf_printf(sql, "roundDown(%s, CAST('[", seconds);
	for (size_t i = 0; i < buckets->count; i++)
		buf_printf(sql, "%s%" PRId64, i ? "," : "", buckets->starts[i]);
	buf_puts(sql, "]', 'Array(Int64)'))");
}

void clicks_sql_interval_fill(struct clicks_sql_interval *ret,
			      const char *seconds,
			      const struct buckets *buckets)
{
	*ret = (struct clicks_sql_interval){.answer_part = "'total'"};
	if (buckets->count == 1) {
		buf_putc(&ret->bucket, '0');
		return;
	}
	ret->answer_part = "if(grouping(bucket) = 0, 'bucket', 'total')";
	ret->sets = "GROUP BY GROUPING SETS ((bucket), ())";
	put_bucket(&ret->bucket, seconds, buckets);
}

void clicks_sql_interval_release(struct clicks_sql_interval *interval)
{
	buf_free(&interval->bucket);
}

/* --- rows of `clicks` ---------------------------------------------------- */

/* FUNCTION_THROW_IF_VALUE_IS_NON_ZERO */
#define THROWN 395

static const char no_marked_row[] =
#include "aggregator/sql/parts/no_marked_row.sql.inc"
	;
static const char is_counted_once[] =
#include "aggregator/sql/parts/is_counted_once.sql.inc"
	;
/* The rows among which repeats are searched. */
static const char asked_for[] =
#include "aggregator/sql/parts/rows_asked_for.sql.inc"
	;
static const char asked_for_of_link[] = "link_id = {link_id:UInt64} AND "
#include "aggregator/sql/parts/rows_asked_for.sql.inc"
	;

void clicks_sql_put_once(struct buf *sql, const struct question *q,
			 bool of_link)
{
	char earliest[24];

	snprintf(earliest, sizeof(earliest), "%" PRId64, q->earliest);
	repeats_put_search(sql, q->marked ? is_counted_once : no_marked_row,
			   of_link ? asked_for_of_link : asked_for, earliest);
}

bool clicks_sql_met_marked(const struct clickhouse *ch)
{
	return clickhouse_last_code(ch) == THROWN;
}

static const char of_link_and[] = "link_id = {link_id:UInt64} AND";
static const char rows_of_question[] =
#include "aggregator/sql/parts/rows_of_question.sql.inc"
	;
static const char is_of_caller[] = "AND "
#include "aggregator/sql/parts/is_of_caller.sql.inc"
	;
static const char is_of_owners[] = "AND "
#include "aggregator/sql/parts/is_of_owners.sql.inc"
	;

void clicks_sql_from_rows(struct buf *sql, const struct question *q,
			  const struct clicks_scope *scope)
{
	const char *whose = scope->bounded ? is_of_owners : NULL;
	struct buf once = {0}, filters = {0};

	clicks_sql_put_once(&once, q, scope->link);
	filters_put_sql(&q->filters, &filters);
	statement_put(sql, rows_of_question,
		      (const struct statement_blank[]){
			      {"link", scope->link ? of_link_and : NULL},
			      {"owners", scope->link ? is_of_caller : whose},
			      {"once", statement_piece(sql, &once)},
			      {"filters", statement_piece(sql, &filters)},
			      {NULL, NULL},
		      });
	buf_free(&once);
	buf_free(&filters);
}

/*
 * Selects buckets, total and groups in one reading of the rows.
 *
 * The limit counts groups: each bucket, and the total, has a LIMIT BY value of
 * its own.
 */
static const char clicks_at_once[] =
#include "aggregator/sql/clicks_at_once.sql.inc"
	;
/* A dimension with several values makes several rows of one click, so that
 * groups are selected apart from the total. */
static const char clicks_of_rows[] =
#include "aggregator/sql/clicks_of_rows.sql.inc"
	;
static const char groups_of_rows[] =
#include "aggregator/sql/parts/groups_of_rows.sql.inc"
	;
/* Selects the groups of several dimensions, each by itself, in the same
 * reading; of one with several values apart. */
static const char clicks_by_each[] =
#include "aggregator/sql/clicks_by_each.sql.inc"
	;

/* Some of these fill the blanks of a statement about rows. */
struct rows_texts {
	struct clicks_sql_interval by;
	struct buf second, rows, groups;
	bool exact;
	/* For clicks_by_each: texts of single dimensions with one value. */
	struct buf columns, names, sets, is_group, index;
	size_t each_count;
	/* The first dimension, and its index; of breakdowns that with several
	 * values. */
	const struct dimension *first;
	size_t at;
};

static void put_rows_statement(struct buf *sql, const char *text,
			       const struct question *q, struct rows_texts *t)
{
	bool pair = q->group_by_count > 1;
	char at[24];
	const struct statement_blank blanks[] = {
		{"answer_part", t->by.answer_part},
		{"bucket", statement_piece(sql, &t->by.bucket)},
		{"sets", t->by.sets},
		{"is_bucket",
		 t->by.sets ? "grouping(bucket) = 0, 'bucket'," : NULL},
		{"bucket_set", t->by.sets ? "(bucket)," : NULL},
		{"at", at},
		{"value", t->first ? t->first->expression : NULL},
		{"columns", statement_piece(sql, &t->columns)},
		{"names", statement_piece(sql, &t->names)},
		{"each_set", statement_piece(sql, &t->sets)},
		{"is_group", statement_piece(sql, &t->is_group)},
		{"index", statement_piece(sql, &t->index)},
		{"second", statement_piece(sql, &t->second)},
		{"values", pair ? "group_value, second_value" : "group_value"},
		{"uniq", t->exact ? "uniqExactIf" : "uniqCombined64If(17)"},
		{"condition", conditions[q->bots]},
		{"rows", statement_piece(sql, &t->rows)},
		{"left", left[q->bots]},
		{"groups", statement_piece(sql, &t->groups)},
		{NULL, NULL},
	};

	snprintf(at, sizeof(at), "%zu", t->at);
	statement_put(sql, text, blanks);
}

/* The value of a dimension is empty in the sets of all others. */
static void put_each(struct rows_texts *t, const struct dimension *d, size_t at)
{
	const char *comma = t->each_count++ ? ", " : "";

	buf_printf(&t->columns, "toValidUTF8(%s) AS value_%zu,\n",
		   d->expression, at);
	buf_printf(&t->names, "%svalue_%zu", comma, at);
	buf_printf(&t->sets, "%s(value_%zu)", comma, at);
	buf_printf(&t->is_group, "%sgrouping(value_%zu) = 0",
		   *comma ? " OR " : "", at);
	buf_printf(&t->index, "grouping(value_%zu) = 0, %zu, ", at, at);
}

static void put_breakdowns(struct rows_texts *t, const struct question *q)
{
	for (size_t i = 0; i < q->breakdown_count; i++) {
		const struct dimension *d = q->breakdowns[i];

		if (d && d->kind == DIMENSION_MANY) {
			t->first = d;
			t->at = i;
		} else if (d) {
			put_each(t, d, i);
		}
	}
}

static void rows_texts_fill(struct rows_texts *ret, const struct question *q,
			    const struct buckets *buckets,
			    const struct clicks_scope *scope)
{
	const struct dimension *second = q->group_by[1];

	clicks_sql_interval_fill(&ret->by, "toUnixTimestamp(ts)", buckets);
	ret->first = q->group_by[0];
	put_breakdowns(ret, q);
	if (second)
		buf_printf(&ret->second, "toValidUTF8(%s)", second->expression);
	else
		buf_puts(&ret->second, "''");
	clicks_sql_from_rows(&ret->rows, q, scope);
}

static void rows_texts_release(struct rows_texts *t)
{
	clicks_sql_interval_release(&t->by);
	buf_free(&t->second);
	buf_free(&t->rows);
	buf_free(&t->groups);
	buf_free(&t->columns);
	buf_free(&t->names);
	buf_free(&t->sets);
	buf_free(&t->is_group);
	buf_free(&t->index);
}

/* Returns the statement for the dimensions of the question. */
static const char *rows_statement(const struct question *q,
				  const struct rows_texts *t)
{
	if (t->each_count)
		return clicks_by_each;
	return q->group_by_count && !question_groups_many(q) ? clicks_at_once
							     : clicks_of_rows;
}

void clicks_sql_rows(struct buf *sql, const struct question *q,
		     const struct buckets *buckets,
		     const struct clicks_scope *scope, bool exact)
{
	struct rows_texts texts = {.exact = exact};

	rows_texts_fill(&texts, q, buckets, scope);
	if (question_groups_many(q))
		put_rows_statement(&texts.groups, groups_of_rows, q, &texts);
	put_rows_statement(sql, rows_statement(q, &texts), q, &texts);
	rows_texts_release(&texts);
}

/* --- stretches of time without copied days --------------------------------
 */

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

/* --- sealed days ------------------------------------------------------------
 *
 * PREWHERE: otherwise ClickHouse compares the attempts of all links in the
 * granules that it reads, which took a quarter of the time of an answer.
 */

const struct clicks_sql_sets clicks_sql_sets[] = {
	[BOTS_EXCLUDE] = {"people", "people_ips"},
	[BOTS_INCLUDE] = {"arrayConcat(people, others)",
			  "arrayConcat(people_ips, others_ips)"},
	[BOTS_ONLY] = {"others", "others_ips"},
};

static const char clicks_of_link[] =
#include "aggregator/sql/clicks_of_link.sql.inc"
	;
static const char life_of_link[] =
#include "aggregator/sql/life_of_link.sql.inc"
	;
static const char size_of_link[] =
#include "aggregator/sql/size_of_link.sql.inc"
	;
static const char values_of_link[] =
#include "aggregator/sql/parts/grouped_values_of_link.sql.inc"
	;
static const char open_values_of_link[] =
#include "aggregator/sql/parts/open_values_of_link.sql.inc"
	;
static const char open_slots_of_link[] =
#include "aggregator/sql/parts/open_slots_of_link.sql.inc"
	;
static const char open_rows_of_link[] =
#include "aggregator/sql/parts/open_rows_of_link.sql.inc"
	;

void clicks_sql_put_row_values(struct buf *sql, const struct question *q)
{
	struct buf several = {0};
	size_t count, n = 0;
	const struct dimension *const *singles = question_singles(q, &count);

	buf_puts(sql, "arrayConcat([");
	for (size_t i = 0; i < count; i++) {
		const struct dimension *d = singles[i];

		if (d && d->kind == DIMENSION_MANY)
			buf_printf(&several,
				   ", arrayMap(x -> (%zu, toString(x)), %s)", i,
				   DIMENSION_MANY_VALUES);
		else if (d)
			buf_printf(sql, "%s(%zu, %s)", n++ ? ", " : "", i,
				   d->expression);
	}
	buf_printf(sql, "]%s)", statement_piece(sql, &several));
	buf_free(&several);
}

void clicks_sql_put_open_part(struct buf *sql, const char *text,
			      const struct question *q,
			      const struct copied_days *days, bool of_link)
{
	struct buf open = {0}, once = {0}, values = {0};

	if (clicks_sql_put_open(&open, q, days)) {
		clicks_sql_put_once(&once, q, of_link);
		clicks_sql_put_row_values(&values, q);
		statement_put(
			sql, text,
			(const struct statement_blank[]){
				{"open", statement_piece(sql, &open)},
				{"once", statement_piece(sql, &once)},
				{"condition", conditions[q->bots]},
				{"row_values", statement_piece(sql, &values)},
				{NULL, NULL},
			});
	}
	sql->failed |= open.failed;
	buf_free(&open);
	buf_free(&once);
	buf_free(&values);
}

/* Fills a statement about the slots of a link, from both sources. */
static void put_slots(struct buf *sql, const char *text,
		      const struct question *q, struct clicks_sql_interval *by,
		      const struct copied_days *sealed, bool exact,
		      struct buf *groups)
{
	const struct clicks_sql_sets *sets = &clicks_sql_sets[q->bots];
	struct buf slots = {0};

	clicks_sql_put_open_part(&slots, open_slots_of_link, q, sealed, true);
	statement_put(sql, text,
		      (const struct statement_blank[]){
			      {"answer_part", by->answer_part},
			      {"bucket", statement_piece(sql, &by->bucket)},
			      {"sets", by->sets},
			      {"uniq", exact ? "uniqExactArray"
					     : "uniqCombined64Array(17)"},
			      {"visitors", sets->visitors},
			      {"addresses", sets->addresses},
			      {"open_slots", statement_piece(sql, &slots)},
			      {"groups",
			       groups ? statement_piece(sql, groups) : NULL},
			      {NULL, NULL},
		      });
	buf_free(&slots);
}

void clicks_sql_sealed(struct buf *sql, const struct question *q,
		       const struct buckets *buckets,
		       const struct copied_days *sealed,
		       const struct copied_days *valued, bool exact)
{
	struct clicks_sql_interval by;
	struct buf groups = {0};

	clicks_sql_interval_fill(&by, "toUnixTimestamp(s)", buckets);
	if (valued)
		clicks_sql_put_copied_values(&groups, q, values_of_link,
					     open_values_of_link, valued, true);
	put_slots(sql, clicks_of_link, q, &by, sealed, exact, &groups);
	clicks_sql_interval_release(&by);
	buf_free(&groups);
}

void clicks_sql_life(struct buf *sql, const struct question *q,
		     const struct copied_days *sealed)
{
	struct clicks_sql_interval none = {0};

	put_slots(sql, life_of_link, q, &none, sealed, false, NULL);
	clicks_sql_interval_release(&none);
}

void clicks_sql_open_size(struct buf *sql, const struct question *q,
			  const struct copied_days *days)
{
	buf_puts(sql, "SELECT 0");
	clicks_sql_put_open_part(sql, open_rows_of_link, q, days, true);
	buf_puts(sql, " FORMAT TabSeparated");
}

void clicks_sql_sealed_size(struct buf *sql, const struct question *q,
			    const struct copied_days *sealed)
{
	struct buf rows = {0};

	clicks_sql_put_open_part(&rows, open_rows_of_link, q, sealed, true);
	statement_put(sql, size_of_link,
		      (const struct statement_blank[]){
			      {"open_rows", statement_piece(sql, &rows)},
			      {NULL, NULL},
		      });
	buf_free(&rows);
}

/* --- groups of settled values -----------------------------------------------
 */

const char clicks_sql_no_visitors[] =
#include "aggregator/sql/parts/no_visitors.sql.inc"
	;
static const char answer_values[] =
#include "aggregator/sql/parts/answer_values.sql.inc"
	;

void clicks_sql_singles_fill(struct clicks_sql_singles *ret,
			     const struct question *q, unsigned kinds)
{
	size_t count;
	const struct dimension *const *singles = question_singles(q, &count);

	*ret = (struct clicks_sql_singles){0};
	buf_puts(&ret->index, "multiIf(");
	for (size_t i = 0; i < count; i++) {
		if (!singles[i] || !(kinds >> singles[i]->kind & 1))
			continue;
		buf_printf(&ret->names, "%s'%s'", ret->count++ ? ", " : "",
			   singles[i]->name);
		buf_printf(&ret->index, "dimension = '%s', %zu, ",
			   singles[i]->name, i);
	}
	buf_printf(&ret->index, "%zu)", count);
}

void clicks_sql_singles_release(struct clicks_sql_singles *singles)
{
	buf_free(&singles->names);
	buf_free(&singles->index);
}

void clicks_sql_put_values(struct buf *sql, const struct question *q,
			   struct buf *values, const char *visitors)
{
	statement_put(sql, answer_values,
		      (const struct statement_blank[]){
			      {"values", statement_piece(sql, values)},
			      {"visitors_of_groups", visitors},
			      {"left", left[q->bots]},
			      {NULL, NULL},
		      });
}

void clicks_sql_put_copied_values(struct buf *sql, const struct question *q,
				  const char *text, const char *open_values,
				  const struct copied_days *days, bool of_link)
{
	struct buf values = {0}, open = {0};
	struct clicks_sql_singles singles;

	clicks_sql_singles_fill(&singles, q, CLICKS_SQL_ALL_KINDS);
	clicks_sql_put_open_part(&open, open_values, q, days, of_link);
	statement_put(
		&values, text,
		(const struct statement_blank[]){
			{"dimensions", statement_piece(sql, &singles.names)},
			{"index", statement_piece(sql, &singles.index)},
			{"open_values", statement_piece(sql, &open)},
			{NULL, NULL},
		});
	clicks_sql_put_values(sql, q, &values, clicks_sql_no_visitors);
	clicks_sql_singles_release(&singles);
	buf_free(&open);
	buf_free(&values);
}
