#include "aggregator/settle/owner_values.h"

#include <inttypes.h>

#include "aggregator/settle/dropped.h"
#include "aggregator/settle/settle_sql.h"
#include "common/clickhouse/rows.h"

/* Most rows that one statement reads; each dimension reads all rows. */
#define ROWS_AT_ONCE UINT64_C(8000000)

void owner_values_put_base(struct buf *sql, const struct day_copy *c)
{
	buf_printf(sql,
		   "(SELECT max(attempt) FROM settled WHERE kind = '%s' AND "
		   "unit = toDateTime({start:UInt32}, 'UTC'))",
		   c->kind->base);
}

const char *owner_values_rows(const struct day_copy *c)
{
	return c->dropped ? SQL_BESIDE " WHERE link_id != 0"
			  : "clicks WHERE link_id != 0 AND " SQL_RANGE;
}

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

#define SQL_INTO                                                               \
	"INSERT INTO owner_values (owner, dimension, day, attempt, value, "    \
	"rest, events, clicks, bots, prefetches) "
#define SQL_SELECT "SELECT o, '%s', " SQL_DAY ", {attempt:UInt64}, "

/* Owners that have no more values than are kept, without ranking: ranking is
 * most of the cost otherwise, and few owners have more. */
static void put_few(struct buf *sql, const struct day_copy *c,
		    const struct dimension *d)
{
	int64_t most = c->s->settings->values_max;

	buf_printf(sql,
		   SQL_SELECT
		   "one.1, false, one.2, one.3, one.4, one.5 FROM (SELECT o, "
		   "arrayJoin(g) AS one FROM (SELECT o, groupArray(%" PRId64
		   ")((v, n, c, b, p)) AS g FROM (SELECT owner AS o, %s AS "
		   "v, " DAY_COPY_COUNTS " FROM %s GROUP BY o, v) GROUP BY o "
		   "HAVING length(g) <= %" PRId64 "))",
		   d->name, most + 1, d->expression, owner_values_rows(c),
		   most);
}

/* Owners that put_few has skipped, or that have no values. */
#define SQL_LEFT_OUT                                                           \
	"owner NOT IN (SELECT owner FROM " OWNER_VALUES_STAGED                 \
	"AND dimension = '%s')"

/*
 * Values beyond the busiest of an owner, and those that the base no longer has,
 * become one row.  For a day that was not dropped, only values of owners that
 * put_few has skipped.
 */
static void put_ranked(struct buf *sql, const struct day_copy *c,
		       const struct dimension *d)
{
	buf_printf(sql,
		   SQL_SELECT
		   "if(is_rest, '', v) "
		   "AS shown, is_rest, sum(n), sum(c), sum(b), sum(p) FROM ("
		   "SELECT *, was_rest OR row_number() OVER (PARTITION BY o, "
		   "was_rest ORDER BY n DESC, v) > {most:UInt64} AS is_rest "
		   "FROM (",
		   d->name);
	if (c->dropped)
		buf_puts(sql, "SELECT o, v, was_rest, sum(en) AS n, sum(ec) AS "
			      "c, sum(eb) AS b, sum(ep) AS p FROM (SELECT o, "
			      "v, was_rest, n AS en, c AS ec, b AS eb, p AS ep "
			      "FROM (");
	buf_printf(sql,
		   "SELECT owner AS o, %s AS v, false AS was_rest, "
		   "" DAY_COPY_COUNTS " FROM %s",
		   d->expression, owner_values_rows(c));
	if (!c->dropped)
		buf_printf(sql, " AND " SQL_LEFT_OUT, d->name);
	buf_puts(sql, " GROUP BY o, v");
	if (c->dropped) {
		buf_puts(sql, ") UNION ALL SELECT owner AS o, value AS v, "
			      "rest AS was_rest, events AS en, clicks AS ec, "
			      "bots AS eb, prefetches AS ep FROM owner_values "
			      "WHERE day = " SQL_DAY " AND attempt = ");
		owner_values_put_base(sql, c);
		buf_printf(sql,
			   " AND dimension = '%s') GROUP BY o, v, was_rest",
			   d->name);
	}
	buf_puts(sql, ")) GROUP BY o, shown, is_rest");
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
	struct buf sql = {0};
	int status;

	*ret = (struct owners){0};
	buf_printf(&sql,
		   "SELECT '', uniqExact(owner) FROM %s UNION ALL "
		   "SELECT toString(dimension), uniqExact(owner) "
		   "FROM " OWNER_VALUES_STAGED
		   "GROUP BY dimension FORMAT TabSeparated",
		   owner_values_rows(c));
	status = buf_cstr(&sql)
			 ? clickhouse_rows(c->s->ch, sql.data, c->params.items,
					   "sn", take_owners, ret, err)
			 : error_set_nomem(err);
	buf_free(&sql);
	return status;
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
		buf_puts(&sql, SQL_INTO);
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
		return owner_values_run(c, SQL_INTO, put_ranked, has, err);
	return owner_values_run(c, SQL_INTO, put_few, has, err) < 0
		       ? -1
		       : rank_left_out(c, has, err);
}
