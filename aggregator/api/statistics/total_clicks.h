/*
 * total_clicks.h - the sources of answers about all links, as far as settled
 * counts have them.
 */
#ifndef AGGREGATOR_API_STATISTICS_TOTAL_CLICKS_H
#define AGGREGATOR_API_STATISTICS_TOTAL_CLICKS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/api/call.h"
#include "aggregator/api/statistics/question.h"
#include "aggregator/api/statistics/question_params.h"
#include "aggregator/api/statistics/total_sql.h"
#include "aggregator/settle/copied_days.h"
#include "common/buf.h"
#include "common/clickhouse/rows.h"
#include "common/error.h"

struct total_answer {
	int64_t complete_until;	 /* ms since 1970 */
	struct copied_days days; /* from stats_spans; see total_sql.h */
	/* The days that are read from day_values, for a dimension that hours do
	 * not have.  All other days are counted in rows; count 0: rows have to
	 * answer. */
	struct copied_days valued;
	bool listed; /* the hours of all other days are parameters */
	struct buf starts, attempts, valued_starts, valued_attempts;
	struct buf hours, hour_attempts;
	struct question_params params; /* for the statements of total_sql.h */
};

/* Prepares the sources for the question's range; no day of `days` has `at`
 * (seconds since 1970) inside.  ERROR_INPUT: rows of dropped days are needed.
 * Release it, also after a failure; it must not move. */
int total_answer_prepare(struct total_answer *t, struct call *call,
			 const struct question *q, int64_t at,
			 struct error *err);

/* Returns the sources for the statements of total_sql.h, valid as long as `t`.
 */
struct total_sources total_answer_sources(const struct total_answer *t);

/* clickhouse_rows for a statement of total_sql.h with the parameters of `t`.
 * The answer may come from the cache if the statement reads settled counts
 * alone. */
int total_answer_rows(const struct total_answer *t, struct call *call,
		      struct buf *sql, const char *columns,
		      clickhouse_row_fn *fn, void *arg, struct error *err);
void total_answer_release(struct total_answer *t);

#endif
