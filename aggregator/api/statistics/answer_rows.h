/*
 * answer_rows.h - the rows of ClickHouse's answers about clicks
 * (clicks_sql.h), taken into an answer.
 */
#ifndef AGGREGATOR_API_STATISTICS_ANSWER_ROWS_H
#define AGGREGATOR_API_STATISTICS_ANSWER_ROWS_H

#include <stdint.h>

#include "aggregator/api/call.h"
#include "aggregator/api/statistics/clicks_answer.h"
#include "aggregator/api/statistics/question.h"
#include "aggregator/api/statistics/question_params.h"
#include "common/buf.h"
#include "common/error.h"

/* Takes a row of CLICKS_SQL_COLUMNS; `arg`: the answer. */
int answer_rows_take(void *arg, char **f, struct error *err);

/* Runs a statement and takes its rows. */
int answer_rows_query(struct call *call, struct buf *sql,
		      const struct question_params *params,
		      struct clicks_answer *answer, struct error *err);

/* Sets how exact the numbers of visitors will be.  A bucket without a row has
 * zero visitors, which is a known number. */
void answer_rows_set_precision(struct clicks_answer *answer,
			       double unique_error);

/* Returns how often a statement reads the rows of the question: again for a
 * dimension with several values. */
int64_t answer_rows_readings(const struct question *q);

#endif
