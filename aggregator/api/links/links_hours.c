#include "aggregator/api/links/links_hours.h"

#include <inttypes.h>
#include <stdio.h>

#include "aggregator/api/caller_params.h"
#include "common/clickhouse/rows.h"
#include "common/clickhouse/statement.h"

static int count_rows(struct call *call, const struct caller_params *caller,
		      uint32_t until_day, uint32_t until_hour,
		      struct error *err)
{
	static const char text[] =
#include "aggregator/sql/links_hours.sql.inc"
		;
	static const struct statement_blank blanks[] = {{"of_hours", NULL},
							{NULL, NULL}};
	char from[24], to[24], most[24];
	const struct clickhouse_param params[] = {
		{"param_until", from},	    {"param_until_hour", to},
		{"max_rows_to_read", most}, caller->items[0],
		caller->items[1],	    caller->items[2],
		caller->items[3],	    {NULL, NULL}};
	struct buf sql = {0};
	uint64_t rows = 0;
	int status;

	snprintf(from, sizeof(from), "%" PRIu32, until_day);
	snprintf(to, sizeof(to), "%" PRIu32, until_hour);
	snprintf(most, sizeof(most), "%" PRId64,
		 call->config->aggregator.raw_rows_max);
	statement_put(&sql, text, blanks);
	status = buf_cstr(&sql) ? clickhouse_numbers(call->ch, sql.data, params,
						     &rows, 1, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status;
}

int links_hours_limit(struct call *call, const struct links_query *q,
		      uint32_t until_day, uint32_t *until_hour,
		      struct error *err)
{
	struct caller_params caller;
	int status;

	if (*until_hour <= until_day * 24 ||
	    !(q->bounds && (q->bounds->has_owners || q->bounds->account)))
		return 0;
	status = caller_params_fill(&caller, q->bounds, err);
	if (status == 0)
		status = count_rows(call, &caller, until_day, *until_hour, err);
	if (status < 0 && call_exceeded_rows(call)) {
		*err = (struct error){0};
		*until_hour = until_day * 24;
		status = 0;
	}
	caller_params_release(&caller);
	return status;
}
