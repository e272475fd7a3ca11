/*
 * day_attempts.h - SQL: what is published for each UTC day, as the newest
 * attempts: d (start of the day, seconds since 1970), n_hour (of its hours),
 * n_day (of link_slots and link_days), n_held and n_dropped; of each copy, the
 * columns that its row of derived_tables.h names; 0: none.  n_linked: the rows
 * that collectors reported for it.  n_held is 0 for a day that was held back at
 * exactly the blocks that it is published from: `aggregator settle` does that
 * while rows of the day are gone.
 */
#ifndef AGGREGATOR_SETTLE_DAY_ATTEMPTS_H
#define AGGREGATOR_SETTLE_DAY_ATTEMPTS_H

#include "aggregator/settle/derived_tables.h"
#include "common/buf.h"

void day_attempts_put(struct buf *sql);

/* These write conditions on a day. */

/* The copy has everything that was settled for the day. */
void day_attempts_put_is_current(struct buf *sql, const struct derived *copy);

/* All copies that a drop needs are current.  `but_old`: but for those that are
 * made once a day is old; a drop makes them itself. */
void day_attempts_put_is_copied(struct buf *sql, bool but_old);

/*
 * The copy is read.  Copies of a dropped day are read even while late clicks
 * wait to be copied, because its other clicks are nowhere else.
 */
void day_attempts_put_is_read(struct buf *sql, const struct derived *copy);

/* The day can be copied: not if it was dropped, and its base is lost. */
void day_attempts_put_can_copy(struct buf *sql, const struct derived *copy);

#endif
