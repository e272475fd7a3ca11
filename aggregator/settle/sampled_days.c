/*
 * The sample: the clicks of one visitor in 16, by UTC day
 * (schemas/clickhouse/sampled_clicks.sql).
 */
#include "aggregator/settle/day_copy.h"
#include "aggregator/settle/derived_tables.h"
#include "common/clickhouse/statement.h"

static const char rows_of_links[] =
#include "aggregator/sql/parts/rows_of_links.sql.inc"
	;
static const char rows_of_links_beside[] =
#include "aggregator/sql/parts/rows_of_links_beside.sql.inc"
	;
static const char base[] =
#include "aggregator/sql/parts/sampled_base.sql.inc"
	;
static const char base_rest[] =
#include "aggregator/sql/parts/sampled_base_rest.sql.inc"
	;

static int run_sample_statement(struct day_copy *c, const char *text,
				struct error *err)
{
	const struct statement_blank blanks[] = {
		{"rows", c->dropped ? rows_of_links_beside : rows_of_links},
		{"base", c->dropped ? base : NULL},
		{"base_rest", c->dropped ? base_rest : NULL},
		{NULL, NULL}};
	struct buf sql = {0};
	int status;

	statement_put(&sql, text, blanks);
	status = day_copy_run(c, &sql, err);
	buf_free(&sql);
	return status;
}

static int stage_sampled_clicks(struct day_copy *c, struct error *err)
{
	static const char sample[] =
#include "aggregator/sql/sampled_clicks.sql.inc"
		;
	static const char rest[] =
#include "aggregator/sql/sampled_clicks_rest.sql.inc"
		;

	if (run_sample_statement(c, sample, err) < 0)
		return -1;
	return run_sample_statement(c, rest, err);
}

const struct copy_statements sample_statements = {
	.settled = day_copy_settled_links,
	.source = day_copy_source_links,
	.dropped_source = day_copy_source_links_dropped,
	.put_staged = day_copy_put_staged_slots,
	.stage = stage_sampled_clicks,
};
