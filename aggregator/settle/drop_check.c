#include "aggregator/settle/drop_check.h"

#include <stdbool.h>
#include <string.h>

#include "aggregator/dimension.h"
#include "aggregator/settle/derived_tables.h"
#include "aggregator/zone/civil.h"
#include "common/buf.h"
#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"

#define DIMENSIONS_MAX 64

/* --- attempts ---------------------------------------------------------------
 */

size_t drop_attempts_count(void)
{
	size_t count = 0;

	for (size_t i = 0; i < COPIED_KINDS; i++)
		count += derived_copy((enum copied)i)->param != NULL;
	return count;
}

void drop_attempts_take(struct drop_attempts *a, const uint64_t *numbers)
{
	for (size_t i = 0; i < COPIED_KINDS; i++)
		a->of[i] = derived_copy((enum copied)i)->param ? *numbers++ : 0;
}

size_t drop_attempts_params(const struct drop_attempts *a, const char **names,
			    uint64_t *numbers, size_t count)
{
	for (size_t i = 0; i < COPIED_KINDS; i++) {
		if (!derived_copy((enum copied)i)->param)
			continue;
		names[count] = derived_copy((enum copied)i)->param;
		numbers[count++] = a->of[i];
	}
	return count;
}

/* --- a day ------------------------------------------------------------------
 */

/* Events under the attempts that are checked, and in the base of the previous
 * drop. */
struct event_counts {
	uint64_t now, base;
};

/* Rows of `clicks`, and the tags in them. */
struct rows {
	uint64_t all, of_links, tags, tags_of_links;
};

struct day_check {
	const struct settling *s;
	struct drop_attempts attempts;
	bool of_base;	 /* the base itself is checked */
	uint64_t events; /* in the base */
	struct rows rows;
	/* The counts of each row's tables by dimension; a table without
	 * dimensions has index 0. */
	struct event_counts counts[DERIVED_ROWS][DERIVED_TABLES_MAX]
				  [DIMENSIONS_MAX];
	struct settling_params params;
	struct drop_lack *ret;
};

static int set_params(struct day_check *c, int64_t start, uint64_t dropped,
		      struct error *err)
{
	const char *names[DROP_PARAMS_MAX] = {"param_start", "param_end",
					      "param_dropped"};
	uint64_t numbers[DROP_PARAMS_MAX] = {
		(uint64_t)start, (uint64_t)(start + CIVIL_DAY), dropped};
	size_t count = drop_attempts_params(&c->attempts, names, numbers, 3);

	return settling_params_fill(&c->params, c->s, names, numbers, count,
				    err);
}

/* --- counting ---------------------------------------------------------------
 */

/* Writes the newest attempt of a kind. */
static void put_newest_of(struct buf *sql, const char *kind)
{
	static const char text[] =
#include "aggregator/sql/parts/newest_of_kind.sql.inc"
		;
	const struct statement_blank blanks[] = {{"kind", kind}, {NULL, NULL}};

	statement_put(sql, text, blanks);
}

static void take_rows(void *arg, const uint64_t *n)
{
	*(struct rows *)arg = (struct rows){n[0], n[1], n[2], n[3]};
}

static int count_rows(struct day_check *c, const char *sql, struct error *err)
{
	return settling_query(c->s->ch, sql, c->params.items, 4, take_rows,
			      &c->rows, err);
}

/* Selects from a table: events of rows that meet the condition `now`, and of
 * those that meet `base`. */
static void put_table(struct buf *sql, const struct derived_table *t,
		      const char *also, const char *now, const char *base)
{
	static const char text[] =
#include "aggregator/sql/drop_table_events.sql.inc"
		;
	const struct statement_blank blanks[] = {
		{"table", t->name},
		{"dimension", t->has ? "toString(dimension)" : "''"},
		{"events", t->events},
		{"now", now},
		{"base", base},
		{"in_day", t->in_day},
		{"also", also},
		{NULL, NULL}};

	statement_put(sql, text, blanks);
}

static void put_hours(struct buf *sql, const struct day_check *c)
{
	static const char in_base[] =
#include "aggregator/sql/parts/is_base_hour.sql.inc"
		;
	static const char is_published[] =
#include "aggregator/sql/parts/is_published_hour.sql.inc"
		;

	put_table(sql, &derived_tables[DERIVED_HOURS].tables[0], "",
		  c->of_base ? in_base : is_published,
		  c->of_base ? "false" : in_base);
}

/* These tables have no base: each settling writes them anew. */
static void put_links(struct buf *sql)
{
	const struct derived *days = &derived_tables[DERIVED_DAYS];
	struct buf also = {0};

	buf_puts(&also, "AND attempt = ");
	put_newest_of(&also, days->kind);
	sql->failed |= !buf_cstr(&also);
	for (size_t i = 0; i < DERIVED_TABLES_MAX && !sql->failed; i++) {
		buf_puts(sql, " UNION ALL ");
		put_table(sql, &days->tables[i], also.data, "true", "false");
	}
	buf_free(&also);
}

/* Writes conditions: a row has the attempt of a copy that has the table, or
 * that attempt in the base. */
static void put_attempts(struct buf *now, struct buf *base,
			 const struct derived_table *t)
{
	const char *before = "";

	for (size_t i = 0; i < COPIED_KINDS; i++) {
		const struct derived *copy = derived_copy((enum copied)i);

		if (!copy->param || !derived_has_table(copy, t->name))
			continue;
		buf_printf(now, "%sattempt = %s", before, copy->bound);
		buf_printf(base, "%sattempt = ", before);
		put_newest_of(base, copy->base);
		before = " OR ";
	}
}

/* A copy without which a day is dropped has none of these tables. */
static void put_copies(struct buf *sql)
{
	struct derived_walk walk = {.row = DERIVED_COPIES};
	const struct derived_table *t;
	struct buf now = {0}, base = {0};

	while ((t = derived_walk_next(&walk))) {
		buf_reset(&now);
		buf_reset(&base);
		put_attempts(&now, &base, t);
		if (!now.len)
			continue;
		sql->failed |= !buf_cstr(&now) || !buf_cstr(&base);
		if (sql->failed)
			break;
		buf_puts(sql, " UNION ALL ");
		put_table(sql, t, "", now.data, base.data);
	}
	buf_free(&now);
	buf_free(&base);
}

/* A row is: table, dimension, events, events of the base. */
static int take_table(void *arg, char **f, struct error *err)
{
	struct day_check *c = arg;
	const struct dimension *d = dimension_find(f[1]);
	size_t i = d ? (size_t)(d - dimensions) : 0;
	bool known = d || !*f[1] || !strcmp(f[1], dimensions[0].name);

	(void)err;
	for (size_t row = 0; row < DERIVED_ROWS; row++)
		for (size_t t = 0; t < DERIVED_TABLES_MAX; t++) {
			const char *name = derived_tables[row].tables[t].name;

			if (known && i < DIMENSIONS_MAX && name &&
			    !strcmp(f[0], name))
				c->counts[row][t][i] = (struct event_counts){
					tsv_u64(f[2]), tsv_u64(f[3])};
		}
	return 0;
}

static int count_tables(struct day_check *c, struct error *err)
{
	struct buf sql = {0};
	int status;

	put_hours(&sql, c);
	put_links(&sql);
	put_copies(&sql);
	buf_puts(&sql, " FORMAT TabSeparated");
	status = buf_cstr(&sql)
			 ? clickhouse_rows(c->s->ch, sql.data, c->params.items,
					   "ssnn", take_table, c, err)
			 : error_set_nomem(err);
	buf_free(&sql);
	return status;
}

/* --- comparing --------------------------------------------------------------
 */

/* A table that is compared: its counts by dimension, and how many events it
 * must have. */
struct checked_table {
	const struct derived_table *table;
	const struct event_counts *counts;
	uint64_t want, tags;
	bool at_least; /* it may have more */
};

static bool count_differs(struct day_check *c, const struct checked_table *t,
			  size_t i, uint64_t want, bool at_least)
{
	uint64_t have = t->counts[i].now;

	if (have == want || (at_least && have > want))
		return false;
	*c->ret = (struct drop_lack){t->table->name, dimensions[i].name, have,
				     want};
	return true;
}

static bool some_differ(struct day_check *c, const struct checked_table *t)
{
	for (size_t i = 0; i < dimension_count; i++)
		if (t->table->has(&dimensions[i]) &&
		    count_differs(c, t, i, t->want, t->at_least))
			return true;
	return false;
}

/* An event counts once for each of its tags.  The tags of the base are known
 * only from the rows that are left, which are not all of them. */
static bool tags_differ(struct day_check *c, const struct checked_table *t)
{
	for (size_t i = 0; i < dimension_count; i++) {
		uint64_t base = c->of_base ? 0 : t->counts[i].base;

		if (dimensions[i].kind == DIMENSION_MANY &&
		    count_differs(c, t, i, t->tags + base, c->of_base))
			return true;
	}
	return false;
}

static bool table_differs(struct day_check *c, const struct checked_table *t)
{
	if (!t->table->has)
		return count_differs(c, t, 0, t->want, t->at_least);
	return some_differ(c, t) || (t->table->has_many && tags_differ(c, t));
}

/* Days of links are settled beside the base: they have the later events,
 * too. */
static bool row_differs(struct day_check *c, size_t row, uint64_t events,
			uint64_t of_links)
{
	for (size_t i = 0; i < DERIVED_TABLES_MAX; i++) {
		const struct derived_table *table =
			&derived_tables[row].tables[i];
		const struct checked_table t = {
			table, c->counts[row][i],
			table->of_links ? of_links : events,
			table->of_links ? c->rows.tags_of_links : c->rows.tags,
			row == DERIVED_DAYS && c->of_base};

		if (table->name && table_differs(c, &t))
			return true;
	}
	return false;
}

/* Returns whether the row's tables are checked: those without which a day is
 * dropped are not, nor a copy of old days that is still to be made. */
static bool is_checked(const struct day_check *c, size_t row)
{
	const struct derived *d = &derived_tables[row];

	if (row < DERIVED_COPIES)
		return true;
	return d->param &&
	       (!d->when_old || c->attempts.of[row - DERIVED_COPIES]);
}

static void find_lacking_table(struct day_check *c)
{
	const struct event_counts *hours = c->counts[DERIVED_HOURS][0];
	const struct event_counts *sealed =
		c->counts[DERIVED_COPIES + COPIED_LINKS][0];
	uint64_t events = c->rows.all + hours->base;
	uint64_t of_links = c->rows.of_links + sealed->base;

	if (c->of_base) {
		events = c->events;
		of_links = sealed->now > c->rows.of_links ? sealed->now
							  : c->rows.of_links;
	}
	*c->ret = (struct drop_lack){0};
	for (size_t row = 0; row < DERIVED_ROWS; row++)
		if (is_checked(c, row) && row_differs(c, row, events, of_links))
			return;
}

/* --- checks ----------------------------------------------------------------
 */

int drop_check_settled(const struct settling *s, int64_t start,
		       uint64_t dropped, const struct drop_attempts *attempts,
		       struct drop_lack *ret, struct error *err)
{
	static const char rows[] =
#include "aggregator/sql/drop_rows.sql.inc"
		;
	static const char beside[] =
#include "aggregator/sql/drop_rows_beside.sql.inc"
		;
	struct day_check c = {.s = s, .attempts = *attempts, .ret = ret};
	int status = set_params(&c, start, dropped, err);

	if (status == 0)
		status = count_rows(&c, dropped ? beside : rows, err);
	if (status == 0)
		status = count_tables(&c, err);
	if (status == 0)
		find_lacking_table(&c);
	settling_params_release(&c.params);
	return status < 0 ? error_wrap(err, "what is settled") : 0;
}

static void take_base(void *arg, const uint64_t *n)
{
	struct day_check *c = arg;

	c->events = n[0];
	drop_attempts_take(&c->attempts, n + 1);
}

/* Writes the attempts in the base of the copies that a drop needs. */
static void put_base(struct buf *sql)
{
	static const char text[] =
#include "aggregator/sql/drop_base.sql.inc"
		;
	struct buf attempts = {0};

	for (size_t i = 0; i < COPIED_KINDS; i++) {
		if (!derived_copy((enum copied)i)->param)
			continue;
		buf_puts(&attempts, ", ");
		put_newest_of(&attempts, derived_copy((enum copied)i)->base);
	}
	const struct statement_blank blanks[] = {
		{"attempts", statement_piece(sql, &attempts)}, {NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&attempts);
}

static int read_base(struct day_check *c, struct error *err)
{
	struct buf sql = {0};
	int status;

	put_base(&sql);
	status = buf_cstr(&sql)
			 ? settling_query(c->s->ch, sql.data, c->params.items,
					  1 + drop_attempts_count(), take_base,
					  c, err)
			 : error_set_nomem(err);
	buf_free(&sql);
	return status;
}

int drop_check_base(const struct settling *s, int64_t start, uint64_t dropped,
		    struct drop_lack *ret, uint64_t *ret_rows,
		    struct error *err)
{
	static const char within[] =
#include "aggregator/sql/drop_rows_within.sql.inc"
		;
	struct day_check c = {.s = s, .of_base = true, .ret = ret};
	int status = set_params(&c, start, dropped, err);

	*ret = (struct drop_lack){0};
	if (status == 0)
		status = count_rows(&c, within, err);
	if (status == 0 && c.rows.all) {
		status = read_base(&c, err);
		if (status == 0)
			status = set_params(&c, start, dropped, err);
		if (status == 0)
			status = count_tables(&c, err);
		if (status == 0)
			find_lacking_table(&c);
	}
	*ret_rows = c.rows.all;
	settling_params_release(&c.params);
	return status < 0 ? error_wrap(err, "what was settled") : 0;
}
