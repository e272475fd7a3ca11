/*
 * owner_clicks.h - questions about the clicks of some owners that their own
 * tables answer: those of a key that is confined to owners, and those that
 * filter by nothing but owners.
 */
#ifndef AGGREGATOR_API_OWNER_CLICKS_H
#define AGGREGATOR_API_OWNER_CLICKS_H

#include <stdbool.h>

#include "aggregator/api/call.h"
#include "aggregator/api/question.h"
#include "aggregator/api/question_params.h"
#include "aggregator/settle/copied_days.h"
#include "common/buf.h"
#include "common/error.h"

/* Fill in with owner_answer_prepare; release also after a failure. */
struct owner_answer {
	struct copied_days days; /* none: rows answer */
	/* The same days' copies of values, for groups by one of these. */
	struct copied_days valued;
	struct question_params params;
	struct buf starts, attempts, valued_starts, valued_attempts, names;
	size_t owners; /* in names */
};

/*
 * Finds the days that are copied, and fills in the parameters of owner_sql.h
 * but `start`.  `whole`: only days that are in the range as a whole, and on one
 * side of `at` (seconds).  Leaves days.count 0 when rows have to answer:
 * nothing is copied, or something else is asked than owners' tables have.
 * ERROR_INPUT: rows are needed of days that were dropped.
 */
int owner_answer_prepare(struct owner_answer *o, struct call *call,
			 const struct question *q, bool whole, int64_t at,
			 struct error *err);
void owner_answer_release(struct owner_answer *o);

#endif
