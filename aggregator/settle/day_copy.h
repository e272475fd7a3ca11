/*
 * day_copy.h - copies a settled UTC day from `clicks`, or from settled hours,
 * into tables of its own.
 *
 * A day is copied once its link_day was settled from all its hours, and again
 * whenever something of the day was published later.  It is copied only while
 * `clicks` has as many rows of links as its link_day counts: not while clicks
 * come in, nor after rows have gone.  Dropped days are copied from their base
 * and the rows that came after it.
 *
 * A copy is staged under a new attempt.  Before that, a marker row (of another
 * kind) in `settled` names the attempt, so that rows which a killed settler
 * leaves are found.  A row of the copy's own kind in `settled` publishes the
 * copy.  The server inserts that row only while the staged events are as many
 * as were counted, the source has the same number of rows, and nothing of the
 * day was published meanwhile.
 */
#ifndef AGGREGATOR_SETTLE_DAY_COPY_H
#define AGGREGATOR_SETTLE_DAY_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/settle/derived_tables.h"
#include "aggregator/settle/settle_sql.h"
#include "aggregator/settle/settling.h"
#include "common/buf.h"
#include "common/error.h"

/* A day that is being copied.  Parameters of its statements: start, end,
 * attempt, dropped, and those that are sent with every insert. */
struct day_copy {
	const struct settling *s;
	const struct derived *kind;
	int64_t start;	      /* seconds since 1970 */
	struct picked picked; /* its attempt */
	uint64_t dropped;     /* number of the day's drop; 0: none */
	uint64_t rows;	      /* about the number of rows that are copied */
	struct settling_params params;
};

/* SQL: the events of links that are settled for the day, and those in `clicks`,
 * with the base of a dropped day. */
extern const char day_copy_settled_links[];
extern const char day_copy_source_links[];
extern const char day_copy_source_links_dropped[];

/* Writes an expression: the events that are staged in the copy's first table,
 * whose rows are slots. */
void day_copy_put_staged_slots(struct buf *sql, const struct day_copy *c);

/* SQL: the events that are settled for the day's hours. */
extern const char day_copy_settled_hours[];

/* `kind` is a row of a copy, see derived_copy. */

/* Returns how long after its end a day is copied, in ms; dropped days do not
 * wait for raw_days. */
int64_t day_copy_age(const struct settling *s, const struct derived *kind);

/* Returns the number of days to copy, and the first of them (seconds since
 * 1970; -1: none). */
int day_copy_pending(const struct settling *s, const struct derived *kind,
		     uint64_t *ret_days, int64_t *ret_first, struct error *err);

/*
 * Copies the first day to copy after `after` (its start, seconds since 1970).
 * *ret_start is that day, or -1 if there is none; it is unchanged if an error
 * occurs before the day is known.  *ret_done is false if the day's rows are not
 * those that were settled.
 */
int day_copy_next(const struct settling *s, const struct derived *kind,
		  int64_t after, const struct progress *last,
		  int64_t *ret_start, bool *ret_done, struct error *err);

/* Runs a statement that stages rows, as few large parts; clears the buffer.
 * ERROR_STOPPED, retriable, when the process is stopping. */
int day_copy_run(const struct day_copy *c, struct buf *sql, struct error *err);

/* Deletes rows whose attempt is less than `before`, and is neither read nor in
 * a base. */
int day_copy_clean(struct clickhouse *ch, const struct derived *kind,
		   uint64_t before, struct error *err);

#endif
