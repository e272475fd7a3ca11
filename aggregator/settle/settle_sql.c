#include "aggregator/settle/settle_sql.h"

#include <stddef.h>

#include "aggregator/dimension.h"
#include "common/clickhouse/statement.h"

/* --- lists -----------------------------------------------------------------
 */

/* Parts of a statement that depend on the dimensions of a kind. */
enum list {
	LIST_KEYS,
	LIST_NAMES,
	LIST_VALUES,
	LIST_SETS,
	LIST_ADDED,
	LIST_COUNT,
};

/* v1 is the key of dimension number 1.  `total`, number 0, has none. */
static void put_dimension(struct buf *lists, size_t i)
{
	const struct dimension *d = &dimensions[i];

	if (i == 0) {
		buf_puts(&lists[LIST_SETS], "(h, quarter)");
		return;
	}
	buf_printf(&lists[LIST_KEYS], "%s AS v%zu, ", d->expression, i);
	buf_printf(&lists[LIST_NAMES], "grouping(v%zu) = 0, '%s', ", i,
		   d->name);
	buf_printf(&lists[LIST_VALUES], "grouping(v%zu) = 0, v%zu, ", i, i);
	buf_printf(&lists[LIST_SETS], "%s(h, quarter, v%zu)",
		   lists[LIST_SETS].len ? ", " : "", i);
}

static void put_name(struct buf *list, const struct dimension *d)
{
	buf_printf(list, "%s'%s'", list->len ? ", " : "", d->name);
}

/* --- hours -----------------------------------------------------------------
 *
 * Dimensions of one kind are aggregated together over the same rows (GROUPING
 * SETS): all of them are of one moment, each column is read once, and a
 * dimension costs only its own key.  Repeating each event for each dimension,
 * as a number and a value, took two and a half times as long.
 */

static const char into_hours[] =
#include "aggregator/sql/parts/into_hours.sql.inc"
	;

/* All values of each hour, with their states. */
static const char hours[] =
#include "aggregator/sql/hours.sql.inc"
	;

/* The busiest values of each hour, and one row for each slot with the rest.  A
 * value's place is its rank in the whole hour; 1 is the busiest. */
static const char hours_busiest[] =
#include "aggregator/sql/hours_busiest.sql.inc"
	;

static const char hours_groups[] =
#include "aggregator/sql/hours_groups.sql.inc"
	;

/* Each click goes into one state, that of people or that of others, and the two
 * are added for each group: updating states is most of the cost of a row. */
static const char states_of_rows[] = ", "
#include "aggregator/sql/parts/hour_states_of_rows.sql.inc"
				     ", "
#include "aggregator/sql/parts/hour_addresses_of_rows.sql.inc"
	;
/* The same without addresses. */
static const char visitors_of_rows[] = ", "
#include "aggregator/sql/parts/hour_states_of_rows.sql.inc"
				       ", "
#include "aggregator/sql/parts/hour_no_addresses.sql.inc"
	;

static const char rows_beside[] = "("
#include "aggregator/sql/parts/rows_beside.sql.inc"
				  ")";

/* The columns of hours_groups, for the base attempt and the rows that it lacks
 * together: a key that is in both becomes one row. */
static const char hours_sums[] =
#include "aggregator/sql/hours_sums.sql.inc"
	;
static const char hours_sums_visited[] =
#include "aggregator/sql/hours_sums_visited.sql.inc"
	;

/* Values that the base counts as rest stay in the rest. */
static const char hours_rest[] =
#include "aggregator/sql/hours_rest.sql.inc"
	;

/* The base of a dropped day, under the new attempt. */
static const char hours_base[] =
#include "aggregator/sql/hours_base.sql.inc"
	;

static const char no_states[] = ", "
#include "aggregator/sql/parts/hour_no_states.sql.inc"
	;

/* NULL: only the busiest values are kept, without states. */
static const char *states_of_kind(enum dimension_kind kind)
{
	switch (kind) {
	case DIMENSION_WHOLE:
		return states_of_rows;
	case DIMENSION_VISITORS:
		return visitors_of_rows;
	case DIMENSION_FEW:
		return no_states;
	default:
		return NULL;
	}
}

/* Writes h, quarter, d, v, n, c, b, p; where all values are kept also the
 * states. */
static void put_counts(struct buf *sql, enum dimension_kind kind,
		       const struct settle_rows *rows)
{
	struct buf lists[LIST_COUNT] = {0};

	for (size_t i = 0; i < dimension_count; i++)
		if (dimensions[i].kind == kind)
			put_dimension(lists, i);
	if (rows->added)
		buf_printf(&lists[LIST_ADDED], "AND %s", rows->added);

	const struct statement_blank blanks[] = {
		{"keys", statement_piece(sql, &lists[LIST_KEYS])},
		{"names", statement_piece(sql, &lists[LIST_NAMES])},
		{"values", statement_piece(sql, &lists[LIST_VALUES])},
		{"states", states_of_kind(kind)},
		{"rows", rows->dropped ? rows_beside : "clicks"},
		{"added", statement_piece(sql, &lists[LIST_ADDED])},
		{"sets", statement_piece(sql, &lists[LIST_SETS])},
		{NULL, NULL}};

	statement_put(sql, hours_groups, blanks);
	for (size_t i = 0; i < LIST_COUNT; i++)
		buf_free(&lists[i]);
}

static void put_sums(struct buf *sql, enum dimension_kind kind,
		     const struct settle_rows *rows)
{
	struct buf groups = {0}, names = {0};

	put_counts(&groups, kind, rows);
	for (size_t i = 0; i < dimension_count; i++)
		if (dimensions[i].kind == kind)
			put_name(&names, &dimensions[i]);

	const struct statement_blank blanks[] = {
		{"groups", statement_piece(sql, &groups)},
		{"dimensions", statement_piece(sql, &names)},
		{NULL, NULL}};

	statement_put(sql,
		      states_of_kind(kind) ? hours_sums_visited : hours_sums,
		      blanks);
	buf_free(&groups);
	buf_free(&names);
}

/* Writes a statement that selects from groups of the dimensions of a kind. */
static void put_selected(struct buf *sql, const char *text,
			 enum dimension_kind kind,
			 const struct settle_rows *rows)
{
	struct buf groups = {0};

	if (rows->based)
		put_sums(&groups, kind, rows);
	else
		put_counts(&groups, kind, rows);

	const struct statement_blank blanks[] = {
		{"groups", statement_piece(sql, &groups)}, {NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&groups);
}

void settle_sql_hours(struct buf *sql, const struct settle_rows *rows)
{
	buf_puts(sql, into_hours);
	put_selected(sql, hours, DIMENSION_WHOLE, rows);
	buf_puts(sql, "UNION ALL\n");
	put_selected(sql, hours, DIMENSION_VISITORS, rows);
	buf_puts(sql, "UNION ALL\n");
	put_selected(sql, hours, DIMENSION_FEW, rows);
	buf_puts(sql, "UNION ALL\n");
	put_selected(sql, hours_busiest, DIMENSION_BUSIEST, rows);
	buf_puts(sql, "UNION ALL\n");
	put_selected(sql, hours_busiest, DIMENSION_MANY, rows);
	if (!rows->dropped && !rows->based)
		return;
	buf_puts(sql, "UNION ALL\n");
	buf_puts(sql, rows->dropped ? hours_base : hours_rest);
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

static const char hour_rows[] =
#include "aggregator/sql/hour_rows.sql.inc"
	;
/* Rows of a dropped day, with their base. */
static const char dropped_hour_rows[] =
#include "aggregator/sql/dropped_hour_rows.sql.inc"
	;

void settle_sql_hour_rows(struct buf *sql, const struct settle_rows *rows)
{
	struct buf upto = {0};

	if (rows->upto)
		buf_printf(&upto, "AND %s", rows->upto);

	const struct statement_blank blanks[] = {
		{"upto", statement_piece(sql, &upto)}, {NULL, NULL}};

	statement_put(sql, rows->dropped ? dropped_hour_rows : hour_rows,
		      blanks);
	buf_free(&upto);
}

const char settle_sql_hour_base[] =
#include "aggregator/sql/hour_base.sql.inc"
	;

/*
 * Writes a statement with the columns h, attempt, n.  Each event is in every
 * dimension once, except those of many values.  If the dimensions differ, they
 * were counted at different moments (servers before 25.5 read the table once
 * for each part of a union), or in part, and n is SETTLE_SQL_UNEVEN.
 */
static void put_staged(struct buf *sql, const char *text)
{
	struct buf count = {0}, names = {0};
	unsigned number = 0;

	for (size_t i = 0; i < dimension_count; i++) {
		if (!dimension_is_of_hours(&dimensions[i]))
			continue;
		put_name(&names, &dimensions[i]);
		number++;
	}
	buf_put_uint(&count, number);

	const struct statement_blank blanks[] = {
		{"count", statement_piece(sql, &count)},
		{"dimensions", statement_piece(sql, &names)},
		{NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&count);
	buf_free(&names);
}

void settle_sql_hour_staged(struct buf *sql)
{
	static const char text[] =
#include "aggregator/sql/hour_staged.sql.inc"
		;

	put_staged(sql, text);
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
	static const char text[] =
#include "aggregator/sql/publish_hours.sql.inc"
		;

	put_staged(sql, text);
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
