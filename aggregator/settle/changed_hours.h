/*
 * changed_hours.h - tells in ingest_progress that hours are to be settled
 * again, though no rows came.  Twice, they are settled once more, to the same.
 */
#ifndef AGGREGATOR_SETTLE_CHANGED_HOURS_H
#define AGGREGATOR_SETTLE_CHANGED_HOURS_H

#include <stdbool.h>

#include "aggregator/settle/settling.h"
#include "common/buf.h"
#include "common/error.h"

/* `hours`: "[1792800000,1792803600]".  `dropped`: they may be of a day that
 * was. */
int changed_hours_report(const struct settling *s, struct buf *hours,
			 bool dropped, struct error *err);

/* All that are published of a UTC day (its start, seconds since 1970), and with
 * them the day.  *ret is false, and nothing is told, within a day after the
 * last time: it has not helped, or others are at it. */
int changed_hours_report_day(const struct settling *s, int64_t start,
			     bool dropped, bool *ret, struct error *err);

#endif
