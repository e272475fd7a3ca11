/*
 * owner_clicks.h - questions about the clicks of an account, or of some owners
 * in it, that the owners' own tables answer: those of a key that is limited to
 * its account, and those whose only filters are account and owners.
 */
#ifndef AGGREGATOR_API_STATISTICS_OWNER_CLICKS_H
#define AGGREGATOR_API_STATISTICS_OWNER_CLICKS_H

#include <stdbool.h>

#include "aggregator/api/call.h"
#include "aggregator/api/statistics/question.h"
#include "aggregator/api/statistics/question_params.h"
#include "aggregator/settle/copied_days.h"
#include "common/buf.h"
#include "common/error.h"

/* owner_answer_prepare fills it in; release it also after a failure. */
struct owner_answer {
	struct copied_days days; /* count 0: rows have to answer */
	/* The copies of values of the same days, for groups that need them. */
	struct copied_days valued;
	struct question_params params;
	struct buf starts, attempts, valued_starts, valued_attempts;
	struct owner_names names;
};

/* An owner belongs to an account.  ERROR_INPUT if the question names owners,
 * and the caller sees several accounts of which it names none. */
int owner_question_check(const struct question *q, const struct access *access,
			 struct error *err);

/*
 * Finds the days that are copied, and fills in the parameters of owner_sql.h
 * except `start`.  `whole`: takes only days that lie entirely in the range and
 * on one side of `at` (seconds).  Leaves days.count 0 when rows have to answer:
 * no day is copied, or the owners' tables lack what the question needs.
 * ERROR_INPUT: rows of dropped days are needed.
 */
int owner_answer_prepare(struct owner_answer *o, struct call *call,
			 const struct question *q, bool whole, int64_t at,
			 struct error *err);
void owner_answer_release(struct owner_answer *o);

#endif
