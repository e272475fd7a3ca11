/*
 * Sealed days: clicks and visitors of links in a table by month
 * (schemas/clickhouse/sealed_slots.sql).
 */
#include <string.h>

#include "aggregator/settle/day_copy.h"
#include "aggregator/settle/derived_tables.h"
#include "aggregator/settle/dropped.h"
#include "aggregator/settle/settle_sql.h"

/* --- one day ----------------------------------------------------------------
 */

static void put_staged(struct buf *sql, const struct day_copy *c)
{
	(void)c;
	buf_puts(sql, "(SELECT sum(events) FROM sealed_slots "
		      "WHERE " SQL_IN_SLOTS "AND attempt = {attempt:UInt64})");
}

#define SET(member, condition)                                                 \
	", arraySort(groupUniqArrayIf(" member ", " condition "))"

#define SQL_INTO_SEALED                                                        \
	"INSERT INTO sealed_slots (link_id, slot, attempt, events, clicks, "   \
	"bots, prefetches, people, others, people_ips, others_ips) "

static int stage_sealed_slots(struct day_copy *c, struct error *err)
{
	/* clang-format off */
	static const char sql[] = SQL_INTO_SEALED
		"SELECT link_id, " SQL_SLOT " AS quarter, "
		"{attempt:UInt64}, count(), countIf(" SQL_CLICK "), "
		"countIf(" SQL_BOT "), countIf(" SQL_PREFETCH ")"
		SET(SQL_VISITOR, SQL_HUMAN) SET(SQL_VISITOR, SQL_OTHER)
		SET(SQL_ADDRESS, SQL_HUMAN) SET(SQL_ADDRESS, SQL_OTHER)
		" FROM clicks WHERE link_id != 0 AND " SQL_RANGE
		" GROUP BY link_id, quarter";
	/* clang-format on */
	static const char sql_dropped[] = SQL_INTO_SEALED
		"SELECT l, s, {attempt:UInt64}, sum(n), sum(c), sum(b), "
		"sum(p), arraySort(groupUniqArrayArray(hv)), "
		"arraySort(groupUniqArrayArray(ov)), "
		"arraySort(groupUniqArrayArray(hi)), "
		"arraySort(groupUniqArrayArray(oi)) "
		"FROM " SQL_DROPPED_SLOTS " GROUP BY l, s";
	/* GROUP BY follows the order of `clicks`, so memory is that of a few
	 * blocks; their arrays are large, so the blocks are small. */
	static const struct clickhouse_param own[] = {
		{"optimize_aggregation_in_order", "1"},
		{"max_block_size", "8192"},
		{"min_insert_block_size_bytes", "64000000"},
		{NULL, NULL}};
	struct clickhouse_param params[24];
	struct buf text = {0};
	size_t n = 0;
	int status;

	for (; c->params.items[n].name; n++)
		params[n] = c->params.items[n];
	memcpy(&params[n], own, sizeof(own));

	buf_puts(&text, c->dropped ? sql_dropped : sql);
	status = settling_run(c->s->ch, &text, params, err);
	buf_free(&text);
	return status;
}

const struct copy_statements seal_statements = {
	.put_staged = put_staged,
	.stage = stage_sealed_slots,
};
