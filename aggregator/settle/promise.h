/*
 * promise.h - how far counts are promised to be complete, and from when on
 * reports are read again so that none is missed.
 *
 * Times are ms since 1970 unless a name says otherwise.  Pure functions, for
 * any thread.
 */
#ifndef AGGREGATOR_SETTLE_PROMISE_H
#define AGGREGATOR_SETTLE_PROMISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/settle/progress.h"

/*
 * Whether ClickHouse's clock went back, or another replica answers whose clock
 * is behind, by `back_ms`: what was reported since then may have come with
 * times that were read long ago.  The overlap covers half of itself, the other
 * half is for inserts that take their time.
 */
bool promise_clock_went_back(int64_t back_ms, int64_t overlap_ms);

/* Reports inserted since then are read again: `last->read_until` may be of a
 * clock that has gone back since. */
int64_t promise_read_from(const struct progress *last, int64_t server_ms,
			  int64_t overlap_ms);

/* How far counts can be promised, of collectors that report to be complete
 * until `reported`; 0: nobody knows.  It never goes back by itself: a promise
 * once given is kept. */
int64_t promise_mark(int64_t reported, int64_t edge_delay_ms,
		     const struct progress *last);

/*
 * The promise after a pass that began with `last` and could promise `now`: it
 * goes on to the hour `left_from` (seconds; INT64_MAX: none), the first that
 * is left, but for hours behind what was promised before: what came for these
 * since is late.  Hours that are held back count as done: they would stop the
 * watermark for ever.  What was reported of hours that are left (`left` of
 * them) is read again.
 */
struct progress promise_next(const struct progress *last,
			     const struct progress *now, size_t left,
			     int64_t left_from);

#endif
