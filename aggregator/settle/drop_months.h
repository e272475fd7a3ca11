/*
 * drop_months.h - drops the settled counts of months that are older than
 * `settled_days`, and thins the tables that settling reads.
 *
 * A month is dropped as a whole once all its days are that old and no row of it
 * is in `clicks` any more.  First a row of `settled` records from which time on
 * counts are kept; the partitions are dropped `keep_superseded` later, when no
 * query reads them any more.  Clicks that come later for a dropped month are
 * deleted and not counted.
 */
#ifndef AGGREGATOR_SETTLE_DROP_MONTHS_H
#define AGGREGATOR_SETTLE_DROP_MONTHS_H

#include <stdint.h>

#include "aggregator/settle/settling.h"
#include "common/error.h"

/*
 * Records that counts are kept from a later month on, if that is due and
 * `clicks` has no rows before it.  *ret_from is that month's start (seconds
 * since 1970); 0: nothing was due.
 */
int drop_months(const struct settling *s, const struct progress *last,
		int64_t *ret_from, struct error *err);

/* Drops the partitions before that time, and such rows of `clicks`. */
int drop_months_delete(const struct settling *s, struct error *err);

/*
 * Deletes rows that are not read any more:
 * - from ingest_progress, reports of months before all days whose rows are
 *   kept, if all their hours are dropped. The greatest offset of each source
 *   and the reports of each partition's newest days stay: collectors and
 *   imports continue from them.
 * - counters of redirectors for hours of dropped days, which are compared with
 *   rows
 * - rows of the journal of imports that no import reads any more
 */
int drop_months_thin(const struct settling *s, struct error *err);

#endif
