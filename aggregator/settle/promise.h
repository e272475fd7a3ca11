/*
 * promise.h - how far counts are promised to be complete, and from which time
 * on reports are read again so that none is missed.
 *
 * Times are ms since 1970 unless a name says otherwise.  Pure functions, for
 * any thread.
 */
#ifndef AGGREGATOR_SETTLE_PROMISE_H
#define AGGREGATOR_SETTLE_PROMISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/progress.h"

/*
 * Whether ClickHouse's clock went back by `back_ms`, or another replica whose
 * clock is behind answers.  Later reports may then have times that were already
 * read.  Half of the overlap covers this, the other half is for slow inserts.
 */
bool promise_clock_went_back(int64_t back_ms, int64_t overlap_ms);

/* Returns the time since which reports are read again.  `last->read_until` may
 * be from a clock that has gone back since. */
int64_t promise_read_from(const struct progress *last, int64_t server_ms,
			  int64_t overlap_ms);

/* Returns how far counts can be promised, if collectors report completeness
 * until `reported`; 0: not known.  The promise never goes back by itself. */
int64_t promise_mark(int64_t reported, int64_t edge_delay_ms,
		     const struct progress *last);

/*
 * Returns the promise after a pass that began with `last` and could promise
 * `now`.  It goes as far as `left_from` (seconds; INT64_MAX: none), the first
 * hour that is left.  Hours behind the previous promise do not count: clicks
 * that came for them since are late.  Hours that are held back count as done:
 * otherwise they would stop the watermark for ever.  Reports of hours that are
 * left (`left` of them) are read again.
 */
struct progress promise_next(const struct progress *last,
			     const struct progress *now, size_t left,
			     int64_t left_from);

#endif
