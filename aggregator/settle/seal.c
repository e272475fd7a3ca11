/*
 * Sealed days: clicks and visitors of links in a table by month
 * (schemas/clickhouse/sealed_slots.sql).
 */
#include <string.h>

#include "aggregator/settle/day_copy.h"
#include "aggregator/settle/derived_tables.h"

/* --- one day ----------------------------------------------------------------
 */

static int stage_sealed_slots(struct day_copy *c, struct error *err)
{
	static const char of_rows[] =
#include "aggregator/sql/sealed_slots.sql.inc"
		;
	static const char of_dropped[] =
#include "aggregator/sql/dropped_sealed_slots.sql.inc"
		;
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

	buf_puts(&text, c->dropped ? of_dropped : of_rows);
	status = settling_run(c->s->ch, &text, params, err);
	buf_free(&text);
	return status;
}

const struct copy_statements seal_statements = {
	.settled = day_copy_settled_links,
	.source = day_copy_source_links,
	.dropped_source = day_copy_source_links_dropped,
	.put_staged = day_copy_put_staged_slots,
	.stage = stage_sealed_slots,
};
