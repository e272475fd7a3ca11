/*
 * drop.h - drops the rows of `clicks` of days that are older than `raw_days`,
 * by settling_old_by().
 *
 * A day is dropped once it is sealed, its published hours hold as many events
 * as it has rows, and all tables that answer for it do (drop_check.h); what was
 * settled of it is its base from then on (see dropped.h).  A row of `settled`
 * says so first, inserted by a statement for which the server counts the hours
 * once more.  The rows themselves are deleted `keep_superseded` later, when no
 * query reads them any more, if the base is still whole, and by their offsets:
 * a row that came meanwhile is not among them.
 *
 * Of a day that a table lacks some of, all hours are told to be settled again,
 * and so are its copies: the rows are still there.
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

#include "aggregator/settle/drop_check.h"
#include "aggregator/settle/repeats.h"
#include "aggregator/settle/settling.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/* Why a day is not dropped now. */
enum drop_why {
	DROP_GOES,	 /* nothing keeps it */
	DROP_BEHIND_RUN, /* of rescore or forget, which has not ended */
	DROP_STALE,	 /* hours of it are to be settled */
	DROP_DIFFERS,	 /* its rows are not as many as its hours' events */
	DROP_REPEATS,	 /* events sent twice were just found */
	DROP_LACKS,	 /* a table has not all of what is settled */
	DROP_CHANGED,	 /* something was published, or came, meanwhile */
};

struct drop_outcome {
	int64_t start; /* the day's, seconds since 1970; -1: there is none */
	bool dropped;
	enum drop_why why;
	uint64_t hours;		/* DROP_STALE */
	uint64_t rows, settled; /* DROP_DIFFERS */
	struct drop_lack lack;	/* DROP_LACKS; */
	bool again;		/* the day is told to be settled again for it */
};

/*
 * Drops the first day after `after` (its start, seconds since 1970) that is old
 * enough and sealed.  ret->start is `after` when it cannot be told which.
 * Adds to *removed what was found of events that were sent twice; then the day
 * is not dropped before it is settled with that.
 */
int drop_next(const struct settling *s, int64_t after,
	      const struct progress *last, struct drop_outcome *ret,
	      struct repeats_removed *removed, struct error *err);

/* What drop_next would find of that day, but for reconciliation and events that
 * were sent twice.  Changes nothing. */
int drop_look(const struct settling *s, int64_t start,
	      const struct progress *last, struct drop_outcome *ret,
	      struct error *err);

/* The reason as text. */
#define DROP_WHY_MAX 256
void drop_why(const struct drop_outcome *o, char *text, size_t size);

/*
 * SQL: days that were dropped long ago (SQL_LONG_AGO, with its parameters) and
 * still have rows in `clicks`, whose partitions are days: start, number of the
 * drop.  Not those before what is kept, whose rows go with their month
 * (drop_months.h).
 */
/* clang-format off */
#define SQL_DROPPED_WITH_ROWS                                                  \
	"SELECT toUInt32(unit), max(attempt) AS newest FROM settled "          \
	"WHERE kind = 'dropped_day' AND toYYYYMMDD(unit) IN "                  \
	"(SELECT toUInt32OrZero(partition_id) FROM system.parts WHERE "        \
	"database = currentDatabase() AND table = 'clicks' AND active "        \
	"AND rows > 0) AND unit >= (SELECT max(unit) FROM settled "            \
	"WHERE kind = 'kept_from') GROUP BY unit HAVING "                      \
	SQL_LONG_AGO("newest", "max(settled_at)")                              \
	" ORDER BY unit FORMAT TabSeparated"
/* clang-format on */

struct drop_deleted {
	uint64_t rows;
	uint64_t kept_days; /* whose rows stay, since the base is not whole */
	int64_t kept_day;   /* the first of them, seconds since 1970 */
	struct drop_lack lack; /* of that one */
};

/* Deletes the rows of days that were dropped `keep_superseded` ago; those that
 * a backup or a replica brought back, too. */
int drop_delete_rows(const struct settling *s, struct drop_deleted *ret,
		     struct error *err);

/* Deletes what drops of less than `before` (their attempt) have left in
 * dropped_sources that does not count. */
int drop_clean(struct clickhouse *ch, uint64_t before, struct error *err);

/* A day that has rows in `clicks` and is old enough: ready to be dropped, if it
 * is sealed and settled. */
struct old_day {
	int64_t start; /* seconds since 1970 */
	uint64_t rows, bytes;
	bool sealed; /* and copied: for owners, its values */
	/* Its hours have as many events as there are rows, and none of its rows
	 * is to be changed by a run of forget or rescore that has begun. */
	bool settled;
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
