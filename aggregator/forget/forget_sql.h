/*
 * forget_sql.h - the statements that find what is to be forgotten, and that
 * change it.  All of them can be run again, and late: what is changed once is
 * not found any more.
 *
 * A list of at most FORGET_AT_ONCE entries is written into a statement.
 */
#ifndef AGGREGATOR_FORGET_FORGET_SQL_H
#define AGGREGATOR_FORGET_FORGET_SQL_H

#include <stdint.h>

#include "aggregator/forget/forget_list.h"
#include "common/buf.h"

enum {
	FORGET_AT_ONCE = 500
};

/*
 * What is left in `clicks` (by `dropped_days` false), or in the sealed slots of
 * days whose rows are dropped: a row a day, the latest last, of its start
 * (seconds since 1970), rows, and the hours these lie in ("[1792800000,...]").
 */
void forget_sql_find(struct buf *sql, const struct forget_list *list,
		     bool dropped_days);

/* Rows of `clicks` of the day that begins at `start`: what is left says that
 * there was a click and how it was judged.  The same as collectors make of such
 * an event (collector/enrich/enricher.c). */
void forget_sql_clicks(struct buf *sql, const struct forget_list *list,
		       int64_t start);

/* Counts of the day that begins at `start`, whose rows are dropped; `hours` are
 * those in which visitors of the list, who have digests, came. */
void forget_sql_states(struct buf *sql, const struct forget_list *list,
		       int64_t start, const char *hours);
void forget_sql_rollups(struct buf *sql, const struct forget_list *list,
			int64_t start, const char *hours);
void forget_sql_owner_slots(struct buf *sql, const struct forget_list *list,
			    int64_t start, const char *hours);
void forget_sql_sealed_slots(struct buf *sql, const struct forget_list *list,
			     int64_t start, const char *hours);

/* The archive: texts of the list's links.  The first asks how many rows have
 * some. */
void forget_sql_count_links(struct buf *sql, const struct forget_list *list);
void forget_sql_links(struct buf *sql, const struct forget_list *list);

#endif
