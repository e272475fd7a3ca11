/*
 * drop.h - drops the rows of `clicks` of days that are older than `raw_days`,
 * by settling_old_by().
 *
 * A day is dropped once it is sealed, its published hours have as many events
 * as it has rows, and so have all tables that answer for it (drop_check.h).
 * The settled counts are its base from then on (settle_sql.h).  First a row of
 * `settled` records the drop; the statement that inserts it makes the server
 * count the hours once more.  The rows themselves are deleted `keep_superseded`
 * later, when no query reads them any more, if the base is still complete.
 * They are deleted by their offsets, so that rows which came meanwhile stay.
 *
 * If a table lacks some events of a day, all hours of the day are reported as
 * stale, and its copies are made again: the rows are still there.
 *
 * Two things come first.  Events that were sent twice are reduced to one click
 * each, because they cannot be recognized any more once the day is dropped:
 * repeats that nothing has searched for since they came, and those that an
 * earlier settler marked too late for their hour.  And the day is reconciled,
 * unless that was done since it was sealed; if reconciliation fails, the day
 * stays for up to one day after it was old enough and sealed.  Reconciliation
 * is skipped when `reconcile_every` is 0.
 *
 * A dropped day that gets late clicks is dropped again when it is sealed with
 * them.
 */
#ifndef AGGREGATOR_SETTLE_DROP_H
#define AGGREGATOR_SETTLE_DROP_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/settle/drop_check.h"
#include "aggregator/settle/repeats.h"
#include "aggregator/settle/settling.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/* Reasons why a day is not dropped now. */
enum drop_why {
	DROP_GOES,	 /* nothing keeps it */
	DROP_BEHIND_RUN, /* rescore or forget changes it, and has not ended */
	DROP_STALE,	 /* hours of it have to be settled */
	DROP_DIFFERS, /* its number of rows is not that of its hours' events */
	DROP_REPEATS, /* events that were sent twice were just found */
	DROP_LACKS,   /* a table does not have everything that is settled */
	DROP_CHANGED, /* something was published, or rows came, meanwhile */
};

struct drop_outcome {
	/* Start of the day, seconds since 1970; -1: there is none. */
	int64_t start;
	bool dropped;
	enum drop_why why;
	uint64_t hours;		/* DROP_STALE */
	uint64_t rows, settled; /* DROP_DIFFERS */
	struct drop_lack lack;	/* DROP_LACKS */
	bool again; /* DROP_LACKS: the day was reported as stale for it */
};

/*
 * Drops the first day after `after` (its start, seconds since 1970) that is old
 * enough and sealed. ret->start is `after` if an error occurs before the day is
 * known.  Events found to be sent twice are added to *removed; then the day is
 * not dropped until it is settled without the repeats.
 */
int drop_next(const struct settling *s, int64_t after,
	      const struct progress *last, struct drop_outcome *ret,
	      struct repeats_removed *removed, struct error *err);

/* Reports what drop_next would find for that day, without reconciliation and
 * without the search for events that were sent twice.  Changes nothing. */
int drop_look(const struct settling *s, int64_t start,
	      const struct progress *last, struct drop_outcome *ret,
	      struct error *err);

/* Writes the reason as text. */
#define DROP_WHY_MAX 256
void drop_why(const struct drop_outcome *o, char *text, size_t size);

/*
 * SQL: days that were dropped long ago (parameters: by settling_set_old) and
 * still have rows in `clicks`, whose partitions are days.  Columns: start,
 * number of the drop.  Days before what is kept are left out, because their
 * rows are deleted with their month (drop_months.h).
 */
extern const char drop_sql_days_with_rows[];

struct drop_deleted {
	uint64_t rows;
	/* Their rows stay, since the base is not complete. */
	uint64_t kept_days;
	int64_t kept_day;      /* the first such day, seconds since 1970 */
	struct drop_lack lack; /* what `kept_day` lacks */
};

/* Deletes the rows of days that were dropped `keep_superseded` ago, also rows
 * that a backup or a replica brought back. */
int drop_delete_rows(const struct settling *s, struct drop_deleted *ret,
		     struct error *err);

/* Deletes rows of dropped_sources that drops with an attempt less than `before`
 * have left and that no longer count. */
int drop_clean(struct clickhouse *ch, uint64_t before, struct error *err);

/* A day that has rows in `clicks` and is old enough: it can be dropped once it
 * is sealed and settled. */
struct old_day {
	int64_t start; /* seconds since 1970 */
	uint64_t rows, bytes;
	bool sealed; /* sealed, and in all copies that a drop needs */
	/* The day's hours have as many events as there are rows, and no run of
	 * forget or rescore that has begun still has to change its rows. */
	bool settled;
	bool dropped;
	/* Since it was sealed, or reconciliation is not needed. */
	bool reconciled;
	/* Time at which the rows are deleted after a drop, ms since 1970. */
	int64_t deleted_at;
};

/* Calls `fn` for each such day, in ascending order. */
int drop_for_each_old(const struct settling *s, const struct progress *last,
		      int (*fn)(void *arg, const struct old_day *day,
				struct error *err),
		      void *arg, struct error *err);

#endif
