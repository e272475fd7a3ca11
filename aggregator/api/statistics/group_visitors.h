/*
 * group_visitors.h - estimates the visitors of groups whose settled values have
 * none, from the clicks of some visitors (schemas/clickhouse/
 * sampled_clicks.sql), and from rows of `clicks` for days that are not sampled.
 *
 * One visitor in s is in the sample.  If k of a group's n visitors are, n is
 * estimated as s * k, with the relative standard error sqrt((s - 1) / n): the
 * number k has a binomial distribution.  Of a group that has none, any number
 * up to about s is possible: the estimate is s / 2, and the error 1.
 */
#ifndef AGGREGATOR_API_STATISTICS_GROUP_VISITORS_H
#define AGGREGATOR_API_STATISTICS_GROUP_VISITORS_H

#include "aggregator/api/call.h"
#include "aggregator/api/statistics/clicks_answer.h"
#include "aggregator/api/statistics/question.h"
#include "aggregator/api/statistics/question_params.h"
#include "common/error.h"

/*
 * Estimates the visitors of the groups of `a` that have none.  `names`: whose
 * clicks are counted; NULL: everybody's.  The groups keep no visitors if some
 * days of the range are neither sampled nor rows, or are too many rows.
 */
int group_visitors_estimate(struct call *call, const struct question *q,
			    const struct owner_names *names,
			    struct clicks_answer *a, struct error *err);

#endif
