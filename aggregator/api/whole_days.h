/*
 * whole_days.h - days of which only counts of the whole UTC day are copied, as
 * a question takes them.
 */
#ifndef AGGREGATOR_API_WHOLE_DAYS_H
#define AGGREGATOR_API_WHOLE_DAYS_H

#include <stdint.h>

#include "aggregator/api/question.h"
#include "aggregator/settle/copied_days.h"
#include "common/error.h"

/* Leaves out days that are in the question's range by a part only, or have `at`
 * (seconds since 1970) inside: rows have to answer for these.  ERROR_INPUT,
 * which says that there are `what` of whole days, when one of them was
 * dropped. */
int whole_days_keep(struct copied_days *days, const struct question *q,
		    int64_t at, const char *what, struct error *err);

#endif
