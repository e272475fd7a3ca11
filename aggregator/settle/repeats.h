/*
 * repeats.h - events that were sent twice, of which one row is a click.
 *
 * A redirector that does not know whether Kafka has an event sends it again,
 * and marks it `maybe_sent`.  Of the rows of an event of which one is marked
 * so, all but one get the outcome 'repeated': they stay, as the proof that all
 * of a partition is stored, and are counted as events, and no more as clicks.
 * The one that stays a click is one that is not marked, or the first in Kafka.
 *
 * The rows of an event have its link, time and event_id.  A collector moves the
 * time of one that waited longer than late_window, which is found all the same
 * while the others are in the range; not the times of two rows of an edge whose
 * clock is ahead.
 */
#ifndef AGGREGATOR_SETTLE_REPEATS_H
#define AGGREGATOR_SETTLE_REPEATS_H

#include <stdint.h>

#include "aggregator/settle/settling.h"
#include "common/error.h"

struct repeats_removed {
	uint64_t rows;	/* that are clicks no more */
	uint64_t hours; /* that were told to be settled again */
};

/*
 * Looks for them among the rows of [from, to), seconds since 1970, but for days
 * that were dropped, and tells hours to be settled again of which other rows
 * are 'repeated' than were settled so: after a run that was killed, too.
 */
int repeats_remove(const struct settling *s, int64_t from, int64_t to,
		   struct repeats_removed *ret, struct error *err);

#endif
