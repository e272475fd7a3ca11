/*
 * whole_days.h - filters copied days for a question, where only counts of whole
 * UTC days are copied.
 */
#ifndef AGGREGATOR_API_STATISTICS_WHOLE_DAYS_H
#define AGGREGATOR_API_STATISTICS_WHOLE_DAYS_H

#include <stdint.h>

#include "aggregator/api/statistics/question.h"
#include "aggregator/settle/copied_days.h"
#include "common/error.h"

/* Removes days that are only partly in the question's range, or have `at`
 * (seconds since 1970) inside: rows have to answer for these.  ERROR_INPUT,
 * which says that there are `what` of whole days, if one of them was dropped.
 */
int whole_days_keep(struct copied_days *days, const struct question *q,
		    int64_t at, const char *what, struct error *err);

#endif
