/*
 * changed_hours.h - reports hours in ingest_progress that have to be settled
 * again although no rows came.  If an hour is reported twice, it is settled
 * once more, with the same result.
 */
#ifndef AGGREGATOR_SETTLE_CHANGED_HOURS_H
#define AGGREGATOR_SETTLE_CHANGED_HOURS_H

#include <stdbool.h>

#include "aggregator/settle/settling.h"
#include "common/buf.h"
#include "common/error.h"

/* `hours`: "[1792800000,1792803600]".  `dropped`: the hours may belong to a day
 * that was dropped. */
int changed_hours_report(const struct settling *s, struct buf *hours,
			 bool dropped, struct error *err);

/*
 * Reports all published hours of a UTC day (its start, seconds since 1970), and
 * with them the day.  Within a day after the last such report, *ret is false
 * and nothing is reported: either that report did not help, or its hours are
 * still being settled.
 */
int changed_hours_report_day(const struct settling *s, int64_t start,
			     bool dropped, bool *ret, struct error *err);

#endif
