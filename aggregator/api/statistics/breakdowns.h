/*
 * breakdowns.h - the parts of a question whose breakdowns have several sources,
 * and their answers.
 */
#ifndef AGGREGATOR_API_STATISTICS_BREAKDOWNS_H
#define AGGREGATOR_API_STATISTICS_BREAKDOWNS_H

#include <stdbool.h>

#include "aggregator/api/statistics/clicks_answer.h"
#include "aggregator/api/statistics/question.h"

/* Splits off the breakdowns by dimensions that only days have: the second part,
 * which has no intervals.  Returns false if all breakdowns are of one kind.
 * The parts use what `q` owns; do not release them. */
bool breakdowns_split(const struct question *q, struct question parts[2]);

/* Raises the error of an answer from settled hours, and of each breakdown, if
 * an estimate lies in the biased range. */
void breakdowns_raise_error(struct clicks_answer *a, const struct question *q);

/* Completes the groupings that were counted with the total of `a`. */
void breakdowns_finish(const struct question *q, struct clicks_answer *a);

/* Moves the breakdowns of `part` from its answer to that of the whole. */
void breakdowns_join(const struct question *part, struct clicks_answer *whole,
		     struct clicks_answer *from);

#endif
