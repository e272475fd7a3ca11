/*
 * repeats.h - events that were sent twice: one row of each is a click.
 *
 * A redirector that does not know whether Kafka has an event sends it again,
 * and marks it `maybe_sent`.  If a row of an event is marked so, all rows of
 * the event but one get the outcome 'repeated'.  They stay, as the proof that a
 * partition is stored completely; they are counted as events, but not as
 * clicks.  The first row that Kafka stored stays a click, marked or not:
 * everything stored before it is here when its time is complete, so no earlier
 * row can come later and replace it.
 *
 * No answer counts an event twice.  An hour or day is not published before its
 * rows were searched for repeats (repeats_mark), and answers that are computed
 * from rows leave out repeats that are not marked yet
 * (aggregator/sql/parts/unmarked_repeats.sql).  So counts that were complete do
 * not go down when repeats are found.
 *
 * That search is for the rows that should be 'repeated' and are not, of events
 * of which a marked row is in a scope, wherever the other rows are.  It is by
 * link and time, because `clicks` is ordered by these: by event_id alone it
 * would read all rows.  The index by_maybe_sent finds marked rows.  Days that
 * were dropped are left out, because some of their rows may be gone.
 *
 * The rows of an event have the same link and event_id, and the same time as
 * the edge reported it.  A collector changes the time of an event that waited
 * longer than late_window, or that comes from an edge whose clock is ahead:
 * `ts` is the new time, `original_ts` the one before.
 */
#ifndef AGGREGATOR_SETTLE_REPEATS_H
#define AGGREGATOR_SETTLE_REPEATS_H

#include <stddef.h>
#include <stdint.h>

#include "aggregator/settle/settling.h"
#include "common/buf.h"
#include "common/error.h"

/*
 * Returns how early a row can lie if another row of its event is behind `from`
 * and both times were changed: no earlier than the time at which an event may
 * be stored now, if `from` is the present.  Days are sealed after that.  Both
 * in seconds since 1970.
 */
int64_t repeats_earliest(const struct clicks_config *clicks, int64_t from);

/*
 * Appends a statement that has aggregator/sql/parts/unmarked_repeats.sql.
 * `scope` is the condition on the marked rows; `earliest`, seconds since 1970
 * as SQL, is repeats_earliest() for the start of the scope.
 */
void repeats_put_search(struct buf *sql, const char *text, const char *scope,
			const char *earliest);

/* Rows of [from, to), seconds since 1970. */
struct repeats_scope {
	int64_t from, to;
	/* Hours that are about to be settled, and that are listed again if that
	 * fails: they are not reported. */
	const int64_t *due;
	size_t due_count;
};

/*
 * Marks rows as 'repeated' for events that have rows in the scope, and reports
 * their hours, also those outside the scope, as stale, except for those in
 * `due`.  Rows of dropped days are not marked.  If no row is marked as maybe
 * sent before, this is one short query.  *ret: number of rows.
 */
int repeats_mark(const struct settling *s, const struct repeats_scope *scope,
		 uint64_t *ret, struct error *err);

struct repeats_removed {
	uint64_t rows; /* that are no longer clicks */
	/* Reported as stale, besides the hours of these rows. */
	uint64_t hours;
};

/*
 * The same, with no hour due.  It also reports those hours of [from, to) as
 * stale whose 'repeated' rows differ from those they were settled with: after a
 * run that was killed, or when another process marked them.
 */
int repeats_remove(const struct settling *s, int64_t from, int64_t to,
		   struct repeats_removed *ret, struct error *err);

#endif
