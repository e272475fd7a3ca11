/*
 * drop_months.h - drops what was settled of months that are older than
 * `settled_days`, and thins what settling learns from.
 *
 * A month goes whole once all its days are that old and no row of it is in
 * `clicks` any more.  A row of `settled` says first from when on counts are
 * kept; the partitions are dropped `keep_superseded` later, when no query reads
 * them any more.  Clicks that come for a month that was dropped are deleted and
 * counted nowhere.
 */
#ifndef AGGREGATOR_SETTLE_DROP_MONTHS_H
#define AGGREGATOR_SETTLE_DROP_MONTHS_H

#include <stdint.h>

#include "aggregator/settle/settling.h"
#include "common/error.h"

/* Says that counts are kept from a later month on, if it is time and no rows of
 * `clicks` stand before it.  *ret_from is that month's start (seconds since
 * 1970); 0: nothing was to be done. */
int drop_months(const struct settling *s, const struct progress *last,
		int64_t *ret_from, struct error *err);

/* Drops what that left, and rows of `clicks` from before. */
int drop_months_delete(const struct settling *s, struct error *err);

/*
 * Deletes from ingest_progress what no one reads any more: reports of months
 * that lie before all days whose rows are kept, all of whose hours are dropped.
 * The greatest offset of each source stays, and what the newest day of each
 * partition has: with these collectors and imports go on.  And what redirectors
 * counted in hours of dropped days, which is held against rows; and of the
 * journal of imports what no import reads any more.
 */
int drop_months_thin(const struct settling *s, struct error *err);

#endif
