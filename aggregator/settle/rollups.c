/*
 * Rollups: counts over all links by whole UTC days, and their totals by hour,
 * combined from the slots of stats_hourly (schemas/clickhouse/stats_spans.sql).
 */
#include "aggregator/dimension.h"
#include "aggregator/settle/day_copy.h"
#include "aggregator/settle/derived_tables.h"
#include "common/clickhouse/statement.h"

/* Each dimension must have as many events as its slots, and the hours as many
 * as the totals. */
static void put_staged(struct buf *sql, const struct day_copy *c)
{
	static const char text[] =
#include "aggregator/sql/expressions/staged_rollups.sql.inc"
		;

	(void)c;
	buf_puts(sql, text);
}

static int stage_rollups(struct day_copy *c, struct error *err)
{
	static const char text[] =
#include "aggregator/sql/rollups.sql.inc"
		;
	struct buf sql = {0};
	int status;

	statement_put(&sql, text,
		      (const struct statement_blank[]){
			      {"whole", dimension_of_whole()->name},
			      {NULL, NULL},
		      });
	status = settling_run(c->s->ch, &sql, c->params.items, err);
	buf_free(&sql);
	return status;
}

const struct copy_statements rollup_statements = {
	.settled = day_copy_settled_hours,
	.source = day_copy_settled_hours,
	.dropped_source = day_copy_settled_hours,
	.put_staged = put_staged,
	.stage = stage_rollups,
};
