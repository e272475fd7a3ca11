/*
 * shared_question.h - the questions of callers that may present a share: parsed
 * as question.h does, then kept within the share.
 *
 * Every route that shares may use asks by these functions.  The share's filters
 * are added to those of the question, so that both must match.  The range is
 * cut to the share's: the answer says which range it has.  A question without a
 * link is about the share's link, and one about another link finds none.
 */
#ifndef AGGREGATOR_API_STATISTICS_SHARED_QUESTION_H
#define AGGREGATOR_API_STATISTICS_SHARED_QUESTION_H

#include "aggregator/api/call.h"
#include "aggregator/api/statistics/question.h"
#include "common/error.h"

/* Parses the query string and the code of the path, if there is one.
 * ERROR_NOT_OWNER: the share has nothing of that. */
int shared_question_parse(struct question *q, struct call *call, unsigned known,
			  struct error *err);

/* The same for routes that answer by whole days of UTC, by default the last
 * `days`.  A day that the share has in part is left out. */
int shared_question_parse_days(struct question *q, struct call *call,
			       unsigned known, int64_t days, struct error *err);

/* Checks that the share has a range which the answer reads beside that of the
 * question; seconds. */
int shared_question_check_range(struct call *call, int64_t from, int64_t to,
				struct error *err);

/* For answers about one link without filters: checks that the share is of a
 * link. */
int shared_question_check_link(const struct call *call, struct error *err);

/* The same for answers about all of its time: checks that the share has no
 * range, either. */
int shared_question_check_whole(const struct call *call, struct error *err);

#endif
