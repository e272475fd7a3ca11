#include "aggregator/settle/owner_days.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "aggregator/dimension.h"
#include "aggregator/settle/day_attempts.h"
#include "aggregator/settle/day_copy.h"
#include "aggregator/settle/dropped.h"
#include "aggregator/settle/settle_sql.h"
#include "common/clickhouse/rows.h"

#define SQL_DAY "toDate(toDateTime({start:UInt32}, 'UTC'))"

/* The base's attempt; nothing has the attempt 0. */
#define SQL_BASE_ATTEMPT                                                       \
	"(SELECT max(attempt) FROM settled WHERE kind = 'base_owner' AND "     \
	"unit = toDateTime({start:UInt32}, 'UTC'))"

/* Rows of clicks that are copied. */
static const char *rows_of(const struct day_copy *c)
{
	return c->dropped ? SQL_BESIDE " WHERE link_id != 0"
			  : "clicks WHERE link_id != 0 AND " SQL_RANGE;
}

/* Of `total`, owner_slots; links are filtered by their own parameters. */
static bool is_kept(const struct dimension *d)
{
	return d != dimensions && d->kind != DIMENSION_RAW;
}

/* --- what is staged ---------------------------------------------------------
 */

/* An event is once in each dimension; in that of many values as often as it has
 * values. */
static void put_staged(struct buf *sql, const struct day_copy *c)
{
	size_t count = 1;

	for (size_t i = 0; i < dimension_count; i++)
		count += is_kept(&dimensions[i]) &&
			 dimensions[i].kind != DIMENSION_MANY;
	buf_printf(sql,
		   "(SELECT multiIf(sum(n) = 0, 0, countIf(NOT m) = %zu AND "
		   "minIf(n, NOT m) = maxIf(n, NOT m) AND sumIf(n, m) = "
		   "(SELECT sum(length(" DIMENSION_MANY_VALUES ")) FROM %s)",
		   count, rows_of(c));
	for (size_t i = 0; c->dropped && i < dimension_count; i++)
		if (dimensions[i].kind == DIMENSION_MANY)
			buf_printf(sql,
				   " + (SELECT sum(events) FROM owner_values "
				   "WHERE day = " SQL_DAY
				   " AND attempt = " SQL_BASE_ATTEMPT
				   " AND dimension = '%s')",
				   dimensions[i].name);
	buf_printf(sql,
		   ", minIf(n, NOT m), %" PRIu64
		   ") FROM (SELECT sum(events) AS n, false AS m FROM "
		   "owner_slots WHERE " SQL_IN_SLOTS
		   "AND attempt = {attempt:UInt64} UNION ALL "
		   "SELECT sum(events) AS n, dimension IN (''",
		   SETTLE_SQL_UNEVEN);
	for (size_t i = 0; i < dimension_count; i++)
		if (dimensions[i].kind == DIMENSION_MANY)
			buf_printf(sql, ", '%s'", dimensions[i].name);
	buf_puts(sql, ") AS m FROM owner_values WHERE day = " SQL_DAY
		      " AND attempt = {attempt:UInt64} GROUP BY dimension))");
}

/* --- staging ----------------------------------------------------------------
 */

#define SQL_COUNTS                                                             \
	"count() AS n, countIf(" SQL_CLICK ") AS c, "                          \
	"countIf(" SQL_BOT ") AS b, countIf(" SQL_PREFETCH ") AS p"

static void put_slots(struct buf *sql, const struct day_copy *c)
{
	static const char *const sets[][2] = {
		{SQL_OWNER_VISITOR, SQL_HUMAN},
		{SQL_OWNER_VISITOR, SQL_OTHER},
		{SQL_OWNER_ADDRESS, SQL_HUMAN},
		{SQL_OWNER_ADDRESS, SQL_OTHER},
	};

	buf_puts(sql, "INSERT INTO owner_slots (owner, slot, attempt, events, "
		      "clicks, bots, prefetches, people, others, people_ips, "
		      "others_ips) ");
	if (c->dropped)
		buf_puts(sql, "SELECT o, s, {attempt:UInt64}, sum(n), sum(c), "
			      "sum(b), sum(p), "
			      "arraySort(groupUniqArrayArray(s0)), "
			      "arraySort(groupUniqArrayArray(s1)), "
			      "arraySort(groupUniqArrayArray(s2)), "
			      "arraySort(groupUniqArrayArray(s3)) FROM (");
	buf_printf(sql, "SELECT owner AS o, " SQL_SLOT " AS s, %s" SQL_COUNTS,
		   c->dropped ? "" : "{attempt:UInt64}, ");
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		buf_printf(sql, ", arraySort(groupUniqArrayIf(%s, %s)) AS s%zu",
			   sets[i][0], sets[i][1], i);
	buf_printf(sql, " FROM %s GROUP BY o, s", rows_of(c));
	if (c->dropped)
		buf_puts(sql,
			 " UNION ALL SELECT owner AS o, slot AS s, "
			 "events AS n, clicks AS c, bots AS b, "
			 "prefetches AS p, people AS s0, others AS s1, "
			 "people_ips AS s2, others_ips AS s3 FROM "
			 "owner_slots WHERE " SQL_IN_SLOTS
			 "AND attempt = " SQL_BASE_ATTEMPT ") GROUP BY o, s");
}

#define SQL_INTO_VALUES                                                        \
	"INSERT INTO owner_values (owner, dimension, day, attempt, value, "    \
	"rest, events, clicks, bots, prefetches) SELECT o, '%s', " SQL_DAY     \
	", {attempt:UInt64}, "

/* Of owners of no more values than are kept: to rank them is most of what it
 * costs otherwise, and there are few others. */
static void put_few_values(struct buf *sql, const struct day_copy *c,
			   const struct dimension *d)
{
	int64_t most = c->s->settings->values_max;

	buf_printf(sql,
		   SQL_INTO_VALUES
		   "one.1, false, one.2, one.3, one.4, one.5 FROM (SELECT o, "
		   "arrayJoin(g) AS one FROM (SELECT o, groupArray(%" PRId64
		   ")((v, n, c, b, p)) AS g FROM (SELECT owner AS o, %s AS "
		   "v, " SQL_COUNTS " FROM %s GROUP BY o, v) GROUP BY o "
		   "HAVING length(g) <= %" PRId64 "))",
		   d->name, most + 1, d->expression, rows_of(c), most);
}

/* Owners that put_few_values has left out, or that have none. */
#define SQL_LEFT_OUT                                                           \
	"owner NOT IN (SELECT owner FROM owner_values WHERE day = " SQL_DAY    \
	" AND attempt = {attempt:UInt64} AND dimension = '%s')"

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

/* Those that put_few_values has staged. */
static int count_owners(const struct day_copy *c, struct owners *ret,
			struct error *err)
{
	static const char sql[] =
		"SELECT '', uniqExact(owner) FROM owner_slots "
		"WHERE " SQL_IN_SLOTS "AND attempt = {attempt:UInt64} "
		"UNION ALL SELECT toString(dimension), uniqExact(owner) "
		"FROM owner_values WHERE day = " SQL_DAY
		" AND attempt = {attempt:UInt64} GROUP BY dimension "
		"FORMAT TabSeparated";

	*ret = (struct owners){0};
	return clickhouse_rows(c->s->ch, sql, c->params.items, "sn",
			       take_owners, ret, err);
}

/* Values beyond the busiest of an owner, and those that the base has no more,
 * are one row.  Of a day that was not dropped, those of owners that are left
 * out. */
static void put_values(struct buf *sql, const struct day_copy *c,
		       const struct dimension *d)
{
	buf_printf(sql,
		   SQL_INTO_VALUES
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
		   "SELECT owner AS o, %s AS v, false AS was_rest, " SQL_COUNTS
		   " FROM %s",
		   d->expression, rows_of(c));
	if (!c->dropped)
		buf_printf(sql, " AND " SQL_LEFT_OUT, d->name);
	buf_puts(sql, " GROUP BY o, v");
	if (c->dropped)
		buf_printf(sql,
			   ") UNION ALL SELECT owner AS o, value AS v, "
			   "rest AS was_rest, events AS en, clicks AS ec, "
			   "bots AS eb, prefetches AS ep FROM owner_values "
			   "WHERE day = " SQL_DAY " AND attempt "
			   "= " SQL_BASE_ATTEMPT " AND dimension = '%s') "
			   "GROUP BY o, v, was_rest",
			   d->name);
	buf_puts(sql, ")) GROUP BY o, shown, is_rest");
}

static int run(struct day_copy *c, struct buf *sql, struct error *err)
{
	static const struct clickhouse_param own[] = {
		{"min_insert_block_size_rows", "10000000"},
		{"min_insert_block_size_bytes", SETTLING_BLOCK_BYTES},
		{NULL, NULL}};
	struct clickhouse_param params[24];
	size_t n = 0;

	for (; c->params.items[n].name; n++)
		params[n] = c->params.items[n];
	memcpy(&params[n], own, sizeof(own));
	if (c->s->is_stopping(c->s->arg)) {
		buf_reset(sql);
		return error_set_retriable(err, ERROR_STOPPED, "stopping");
	}
	return settling_run(c->s->ch, sql, params, err);
}

typedef void put_fn(struct buf *sql, const struct day_copy *c,
		    const struct dimension *d);

/* A dimension at a time: each reads its own columns, and memory holds the
 * groups of one.  `owners`: only those of which some owners are left out. */
static int stage_values(struct day_copy *c, put_fn *put,
			const struct owners *owners, struct error *err)
{
	struct buf sql = {0};
	int status = 0;

	for (size_t i = 0; status == 0 && i < dimension_count; i++) {
		if (!is_kept(&dimensions[i]) ||
		    (owners && owners->with_values[i] == owners->all))
			continue;
		put(&sql, c, &dimensions[i]);
		status = run(c, &sql, err);
	}
	buf_free(&sql);
	return status;
}

static int stage(struct day_copy *c, struct error *err)
{
	struct buf sql = {0};
	struct owners owners;
	int status;

	put_slots(&sql, c);
	status = run(c, &sql, err);
	buf_free(&sql);
	if (status < 0)
		return -1;
	if (c->dropped)
		return stage_values(c, put_values, NULL, err);
	if (stage_values(c, put_few_values, NULL, err) < 0 ||
	    count_owners(c, &owners, err) < 0)
		return -1;
	return stage_values(c, put_values, &owners, err);
}

/* -------------------------------------------------------------------------- */

static const char *const tables[] = {"owner_slots", "owner_values", NULL};

static const struct day_copy_kind owners = {
	.verb = "settle owners of",
	.kind = "owner_day",
	.marker = "copying",
	.marker_kind = SETTLED_COPYING,
	.base = "base_owner",
	.tables = tables,
	.newest = "n_owner",
	/* What was dropped before there were these tables is not in a base. */
	.which = "(n_dropped = 0 OR n_based > 0)",
	.are_read = SQL_OWNERS_ARE_READ,
	.put_staged = put_staged,
	.stage = stage,
};

int owner_days_pending(const struct settling *s, uint64_t *ret_days,
		       int64_t *ret_first, struct error *err)
{
	return day_copy_pending(s, &owners, 0, ret_days, ret_first, err);
}

int owner_days_next(const struct settling *s, int64_t after,
		    const struct progress *last, int64_t *ret_start,
		    bool *ret_done, struct error *err)
{
	return day_copy_next(s, &owners, 0, after, last, ret_start, ret_done,
			     err);
}

int owner_days_clean(struct clickhouse *ch, int64_t before_ms,
		     struct error *err)
{
	return day_copy_clean(ch, &owners, before_ms, err);
}
