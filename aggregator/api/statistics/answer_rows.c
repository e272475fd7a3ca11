#include "aggregator/api/statistics/answer_rows.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/api/statistics/clicks_sql.h"
#include "common/clickhouse/rows.h"

static int add_group(struct grouping *g, const char *value, const char *second,
		     const struct counts *counts, struct error *err)
{
	struct group *more = realloc(g->groups, (g->count + 1) * sizeof(*more));

	if (!more)
		return error_set_nomem(err);
	g->groups = more;
	more += g->count++;
	*more = (struct group){.value = strdup(value),
			       .second = strdup(second),
			       .counts = *counts};
	return more->value && more->second ? 0 : error_set_nomem(err);
}

/* A single bucket equals the total; its own row, if there is one, is the same.
 */
static void take_total(struct clicks_answer *a, const struct counts *counts)
{
	a->total = *counts;
	if (a->buckets.count == 1)
		a->data[0] = *counts;
}

int answer_rows_take(void *arg, char **f, struct error *err)
{
	struct clicks_answer *a = arg;
	struct counts counts = counts_read(f + 4);
	bool group = !strcmp(f[0], "group");

	if (!strcmp(f[0], "total")) {
		take_total(a, &counts);
	} else if (group || !strcmp(f[0], "left_out")) {
		size_t at = (size_t)tsv_u64(f[1]);

		if (at >= BREAKDOWNS_MAX)
			return error_set(err, ERROR_PROTOCOL,
					 "ClickHouse: a group of no dimension");
		if (group)
			return add_group(&a->groupings[at], f[2], f[3], &counts,
					 err);
		a->groupings[at].lower_bound = counts.events > 0;
	} else {
		a->data[buckets_find(&a->buckets, tsv_i64(f[1]))] = counts;
	}
	return 0;
}

int answer_rows_query(struct call *call, struct buf *sql,
		      const struct question_params *params,
		      struct clicks_answer *answer, struct error *err)
{
	if (!buf_cstr(sql))
		return error_set_nomem(err);
	return clickhouse_rows(call->ch, sql->data, params->items,
			       CLICKS_SQL_COLUMNS, answer_rows_take, answer,
			       err);
}

void answer_rows_set_precision(struct clicks_answer *answer,
			       double unique_error)
{
	answer->unique_error = unique_error;
	for (size_t i = 0; i < answer->buckets.count; i++)
		answer->data[i].visitors_known = answer->data[i].ips_known =
			true;
	answer->total.visitors_known = answer->total.ips_known = true;
}

int64_t answer_rows_readings(const struct question *q)
{
	return question_groups_many(q) ? 2 : 1;
}
