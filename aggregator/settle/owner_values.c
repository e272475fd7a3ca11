#include "aggregator/settle/owner_values.h"

#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"

/* Most rows that one statement reads; each dimension reads all rows. */
#define ROWS_AT_ONCE UINT64_C(8000000)

/* --- statements -------------------------------------------------------------
 */

/* Writes the dimensions after `from` that one statement takes.  Returns
 * `dimension_count` when all are done. */
static size_t put_some(struct buf *sql, const struct day_copy *c,
		       owner_values_put_fn *put, owner_values_has_fn *has,
		       size_t from)
{
	uint64_t count = 0;
	size_t i = from;

	for (; i < dimension_count; i++) {
		if (!has(&dimensions[i]))
			continue;
		if (count && (count + 1) * c->rows > ROWS_AT_ONCE)
			break;
		if (count++)
			buf_puts(sql, " UNION ALL ");
		put(sql, c, &dimensions[i]);
	}
	return i;
}

int owner_values_run(struct day_copy *c, const char *into,
		     owner_values_put_fn *put, owner_values_has_fn *has,
		     struct error *err)
{
	struct buf sql = {0};
	int status = 0;

	for (size_t i = 0; status == 0 && i < dimension_count;) {
		size_t before;

		buf_puts(&sql, into);
		before = sql.len;
		i = put_some(&sql, c, put, has, i);
		status = sql.failed || sql.len > before
				 ? day_copy_run(c, &sql, err)
				 : 0;
	}
	buf_free(&sql);
	return status;
}

/* --- values -----------------------------------------------------------------
 */

static const char into[] =
#include "aggregator/sql/parts/into_owner_values.sql.inc"
	;

void owner_values_put(struct buf *sql, const struct day_copy *c,
		      const struct dimension *d, const char *text)
{
	const struct statement_blank blanks[] = {{"dimension", d->name},
						 {"value", d->expression},
						 {"base", c->kind->base},
						 {NULL, NULL}};

	statement_put(sql, text, blanks);
}

/* Owners that have no more values than are kept, without ranking: ranking is
 * most of the cost otherwise, and few owners have more. */
static void put_few(struct buf *sql, const struct day_copy *c,
		    const struct dimension *d)
{
	static const char text[] =
#include "aggregator/sql/owner_values_few.sql.inc"
		;
	uint64_t values_max = (uint64_t)c->s->settings->values_max;
	struct buf most = {0}, more = {0};

	buf_put_uint(&most, values_max);
	buf_put_uint(&more, values_max + 1);

	const struct statement_blank blanks[] = {
		{"dimension", d->name},
		{"value", d->expression},
		{"most", statement_piece(sql, &most)},
		{"more", statement_piece(sql, &more)},
		{NULL, NULL}};

	statement_put(sql, text, blanks);
	buf_free(&most);
	buf_free(&more);
}

/*
 * Values beyond the busiest of an owner, and those that the base no longer has,
 * become one row.  For a day that was not dropped, only values of owners that
 * put_few has skipped.
 */
static void put_ranked(struct buf *sql, const struct day_copy *c,
		       const struct dimension *d)
{
	static const char of_rows[] =
#include "aggregator/sql/owner_values_ranked.sql.inc"
		;
	static const char of_dropped[] =
#include "aggregator/sql/owner_values_dropped.sql.inc"
		;
	owner_values_put(sql, c, d, c->dropped ? of_dropped : of_rows);
}

/* --- skipped owners --------------------------------------------------------
 */

#define DIMENSIONS_MAX 64

struct owners {
	uint64_t all;
	uint64_t with_values[DIMENSIONS_MAX]; /* by dimension */
};

/* A row is: dimension, '' for all; owners. */
static int take_owners(void *arg, char **f, struct error *err)
{
	struct owners *o = arg;
	const struct dimension *d = dimension_find(f[0]);

	(void)err;
	if (!d)
		o->all = tsv_u64(f[1]);
	else if (d - dimensions < DIMENSIONS_MAX)
		o->with_values[d - dimensions] = tsv_u64(f[1]);
	return 0;
}

/* Counts the owners that put_few has staged. */
static int count_owners(const struct day_copy *c, struct owners *ret,
			struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/owners_with_values.sql.inc"
		;

	*ret = (struct owners){0};
	return clickhouse_rows(c->s->ch, sql, c->params.items, "sn",
			       take_owners, ret, err);
}

static int rank_left_out(struct day_copy *c, owner_values_has_fn *has,
			 struct error *err)
{
	struct buf sql = {0};
	struct owners owners;
	int status = count_owners(c, &owners, err);

	for (size_t i = 0; status == 0 && i < dimension_count; i++) {
		if (!has(&dimensions[i]) || owners.with_values[i] == owners.all)
			continue;
		buf_puts(&sql, into);
		put_ranked(&sql, c, &dimensions[i]);
		status = day_copy_run(c, &sql, err);
	}
	buf_free(&sql);
	return status;
}

int owner_values_stage(struct day_copy *c, owner_values_has_fn *has,
		       struct error *err)
{
	if (c->dropped)
		return owner_values_run(c, into, put_ranked, has, err);
	return owner_values_run(c, into, put_few, has, err) < 0
		       ? -1
		       : rank_left_out(c, has, err);
}
