/*
 * repeats.h - events that were sent twice, of which one row is a click.
 *
 * A redirector that does not know whether Kafka has an event sends it again,
 * and marks it `maybe_sent`.  Of the rows of an event of which one is marked
 * so, all but one get the outcome 'repeated': they stay, as the proof that all
 * of a partition is stored, and are counted as events, and no more as clicks.
 * The one that stays a click is the first that Kafka stored, marked or not: all
 * that was stored before it is here when its time is complete, so that none
 * comes later and takes its place.
 *
 * No answer counts two of them.  An hour or day is not published before they
 * were looked for among its rows (repeats_mark), and what is answered from rows
 * leaves out those that nobody has marked yet (REPEATS_SQL).  So counts that
 * were complete do not go down when they are found.
 *
 * The rows of an event have its link and event_id, and its time as the edge
 * told it.  A collector moves the time of one that waited longer than
 * late_window, or of an edge whose clock is ahead: `ts` is what it was moved
 * to, `original_ts` what it was.
 */
#ifndef AGGREGATOR_SETTLE_REPEATS_H
#define AGGREGATOR_SETTLE_REPEATS_H

#include <stddef.h>
#include <stdint.h>

#include "aggregator/settle/settling.h"
#include "common/error.h"

/* SQL: rows of `clicks` that may be repeats, or have some, as far as they say
 * so themselves.  The index by_maybe_sent finds them. */
#define REPEATS_SQL_MARKED "maybe_sent AND outcome != 'repeated' "

/* SQL: not of a day that was dropped.  Of its rows some may be gone. */
#define REPEATS_SQL_KEPT                                                       \
	"toDateTime(intDiv(toUnixTimestamp(ts), 86400) * 86400, 'UTC') "       \
	"NOT IN (SELECT unit FROM settled WHERE kind = 'dropped_day') "

#define REPEATS_SQL_OF(what, scope)                                            \
	"(SELECT " what " FROM clicks WHERE " REPEATS_SQL_MARKED "AND " scope

/*
 * SQL: a table of the rows that are to be 'repeated' and are not, of events of
 * which a marked row meets the condition `scope`; wherever the others are.
 * Columns: those of the table's key, epoch and topic.  `earliest`, seconds
 * since 1970 as SQL, is repeats_earliest() of where the scope begins.
 *
 * By link and time, as `clicks` is ordered: event_id alone would be looked for
 * in all rows.
 */
/* clang-format off */
#define REPEATS_SQL(scope, earliest)                                           \
	"(SELECT link_id, ts, epoch, topic, partition, offset, "               \
	"row_number() OVER (PARTITION BY event_id ORDER BY append_time, "      \
	"maybe_sent, epoch, topic, partition, offset) AS place "               \
	"FROM clicks WHERE " REPEATS_SQL_KEPT "AND outcome != 'repeated' AND " \
	"((link_id, ts) IN "                                                   \
	REPEATS_SQL_OF("link_id, arrayJoin([ts, original_ts])", scope) ") OR " \
	"(ts >= toDateTime64(" earliest ", 3, 'UTC') AND "                     \
	"original_ts != ts AND link_id IN "                                    \
	REPEATS_SQL_OF("link_id", scope) "AND original_ts != ts))) AND "       \
	"event_id IN " REPEATS_SQL_OF("event_id", scope) ")) WHERE place > 1"
/* clang-format on */

/* How early rows of events can lie whose others are behind `from`, and of which
 * both were moved to other times: no earlier than an event may be stored now,
 * if `from` is the present.  Days are sealed after that.  Both in seconds since
 * 1970. */
int64_t repeats_earliest(const struct clicks_config *clicks, int64_t from);

/* Rows of [from, to), seconds since 1970. */
struct repeats_scope {
	int64_t from, to;
	/* Hours that are about to be settled, and are listed again if that
	 * fails: nobody needs to be told of them. */
	const int64_t *due;
	size_t due_count;
};

/*
 * Marks rows as 'repeated' of events that have rows in the scope, and tells
 * their hours, whichever these are, to be settled again, but for those that are
 * due.  Not rows of days that were dropped.  Where no row says that it may have
 * been sent before, this asks one short question.  *ret: how many rows.
 */
int repeats_mark(const struct settling *s, const struct repeats_scope *scope,
		 uint64_t *ret, struct error *err);

struct repeats_removed {
	uint64_t rows;	/* that are clicks no more */
	uint64_t hours; /* that were told to be settled again, besides theirs */
};

/*
 * The same, with none that is due, and tells hours of [from, to) to be settled
 * again of which other rows are 'repeated' than were settled so: after a run
 * that was killed, or when somebody else marked them.
 */
int repeats_remove(const struct settling *s, int64_t from, int64_t to,
		   struct repeats_removed *ret, struct error *err);

#endif
