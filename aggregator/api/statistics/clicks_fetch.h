/*
 * clicks_fetch.h - counts the clicks of a question, in the sources that have
 * them: see "Where answers come from" in docs/aggregator.md.
 */
#ifndef AGGREGATOR_API_STATISTICS_CLICKS_FETCH_H
#define AGGREGATOR_API_STATISTICS_CLICKS_FETCH_H

#include "aggregator/api/call.h"
#include "aggregator/api/statistics/clicks_answer.h"
#include "aggregator/api/statistics/question.h"
#include "common/error.h"

/* Fills in the counts of `a`, whose link the caller has found, or not.  The
 * breakdowns that have the same source are counted by one statement. */
int clicks_fetch(struct call *call, const struct question *q,
		 struct clicks_answer *a, struct error *err);

#endif
