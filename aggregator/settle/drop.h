/*
 * drop.h - drops the rows of `clicks` of days that are older than `raw_days`,
 * by settling_old_by().
 *
 * A day is dropped once it is sealed and its published hours hold as many
 * events as it has rows; what was settled of it is its base from then on (see
 * dropped.h).  A row of `settled` says so first, inserted by a statement for
 * which the server counts once more.  The rows themselves are deleted
 * `keep_superseded` later, when no query reads them any more, and by their
 * offsets: a row that came meanwhile is not among them.
 *
 * Before that events that were sent twice are made one click each, since of a
 * dropped day they cannot be told any more: those that nobody has looked for
 * since they came, and those that a settler before marked too late for their
 * hour.  And the day is reconciled, unless it was since it was sealed; where
 * that fails it is not dropped, for a day after it was old enough and sealed.
 * Neither is done when `reconcile_every` is 0.
 *
 * A day that got late clicks is dropped again when it is sealed with them.
 */
#ifndef AGGREGATOR_SETTLE_DROP_H
#define AGGREGATOR_SETTLE_DROP_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/settle/repeats.h"
#include "aggregator/settle/settling.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/*
 * Drops the first day after `after` (its start, seconds since 1970) that is old
 * enough and sealed.  *ret_start is that day, -1: there is none, and left as it
 * was when that cannot be told; *ret_dropped is false when its rows are not
 * those that were settled.  Adds to *removed what was found of events that were
 * sent twice; then the day is not dropped before it is settled with that.
 */
int drop_next(const struct settling *s, int64_t after,
	      const struct progress *last, int64_t *ret_start,
	      bool *ret_dropped, struct repeats_removed *removed,
	      struct error *err);

/* Deletes the rows of days that were dropped `keep_superseded` ago; those that
 * a backup or a replica brought back, too. */
int drop_delete_rows(const struct settling *s, uint64_t *ret_rows,
		     struct error *err);

/* Deletes what drops of less than `before` (their attempt) have left in
 * dropped_sources that does not count. */
int drop_clean(struct clickhouse *ch, uint64_t before, struct error *err);

/* A day that has rows in `clicks` and is old enough: ready to be dropped, if it
 * is sealed and settled. */
struct old_day {
	int64_t start; /* seconds since 1970 */
	uint64_t rows, bytes;
	bool sealed;  /* and copied: for owners, its values */
	bool settled; /* its hours have as many events as there are rows */
	bool dropped;
	bool reconciled;    /* since it was sealed, or it need not be */
	int64_t deleted_at; /* of one that was dropped: ms since 1970 */
};

/* Calls `fn` for each, in their order. */
int drop_for_each_old(const struct settling *s, const struct progress *last,
		      int (*fn)(void *arg, const struct old_day *day,
				struct error *err),
		      void *arg, struct error *err);

#endif
