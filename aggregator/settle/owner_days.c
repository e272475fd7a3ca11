#include "aggregator/settle/owner_days.h"

#include <inttypes.h>

#include "aggregator/dimension.h"
#include "aggregator/settle/day_copy.h"
#include "aggregator/settle/derived_tables.h"
#include "aggregator/settle/owner_values.h"
#include "aggregator/settle/settle_sql.h"

/* owner_slots covers `total`; links are filtered by parameters of their own. */
static bool is_kept(const struct dimension *d)
{
	return d != dimensions && d->kind != DIMENSION_DAILY;
}

/* --- staged events ---------------------------------------------------------
 */

/* An event is in each dimension once; in a dimension of many values it is there
 * once for each value. */
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
		   count, owner_values_rows(c));
	for (size_t i = 0; c->dropped && i < dimension_count; i++) {
		if (dimensions[i].kind != DIMENSION_MANY)
			continue;
		buf_printf(sql,
			   " + (SELECT sum(events) FROM owner_values WHERE "
			   "day = " SQL_DAY " AND dimension = '%s' "
			   "AND attempt = ",
			   dimensions[i].name);
		owner_values_put_base(sql, c);
		buf_putc(sql, ')');
	}
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
	buf_puts(sql,
		 ") AS m FROM " OWNER_VALUES_STAGED "GROUP BY dimension))");
}

/* --- staging ----------------------------------------------------------------
 */

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
	buf_printf(sql,
		   "SELECT owner AS o, " SQL_SLOT " AS s, %s" DAY_COPY_COUNTS,
		   c->dropped ? "" : "{attempt:UInt64}, ");
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		buf_printf(sql, ", arraySort(groupUniqArrayIf(%s, %s)) AS s%zu",
			   sets[i][0], sets[i][1], i);
	buf_printf(sql, " FROM %s GROUP BY o, s", owner_values_rows(c));
	if (c->dropped) {
		buf_puts(sql,
			 " UNION ALL SELECT owner AS o, slot AS s, "
			 "events AS n, clicks AS c, bots AS b, "
			 "prefetches AS p, people AS s0, others AS s1, "
			 "people_ips AS s2, others_ips AS s3 FROM "
			 "owner_slots WHERE " SQL_IN_SLOTS "AND attempt = ");
		owner_values_put_base(sql, c);
		buf_puts(sql, ") GROUP BY o, s");
	}
}

static int stage_owner_tables(struct day_copy *c, struct error *err)
{
	struct buf sql = {0};
	int status;

	put_slots(&sql, c);
	status = day_copy_run(c, &sql, err);
	buf_free(&sql);
	return status < 0 ? -1 : owner_values_stage(c, is_kept, err);
}

const struct copy_statements owner_statements = {
	.put_staged = put_staged,
	.stage = stage_owner_tables,
};
