/*
 * forget_sql.h - the statements that find and change data to forget.  All of
 * them can be run again, and late: changed data is not found again.
 *
 * A statement contains a list of at most FORGET_AT_ONCE entries.
 */
#ifndef AGGREGATOR_FORGET_FORGET_SQL_H
#define AGGREGATOR_FORGET_FORGET_SQL_H

#include <stdint.h>

#include "aggregator/forget/forget_list.h"
#include "aggregator/settle/derived_tables.h"
#include "common/buf.h"

enum {
	FORGET_AT_ONCE = 500
};

/*
 * Finds remaining data in `clicks` (`dropped_days` false), or in the sealed
 * slots of days whose rows are dropped.  A row for each day, the latest last:
 * its start (seconds since 1970), number of rows, and their hours
 * ("[1792800000,...]").
 */
void forget_sql_find(struct buf *sql, const struct forget_list *list,
		     bool dropped_days);

/*
 * Changes rows of `clicks` of the day that begins at `start`: a changed row
 * still shows that there was a click and its verdict. schemas/click_columns.inc
 * says what is left of each column, here and in rows that collectors write.
 */
void forget_sql_clicks(struct buf *sql, const struct forget_list *list,
		       int64_t start);

/*
 * Changes counts of the day that begins at `start`, whose rows are dropped, in
 * a table that tells visitors apart (enum derived_visitors); `hours` are the
 * hours in which visitors of the list came.  The visitors must have digests.
 */
void forget_sql_table(struct buf *sql, const struct derived_table *table,
		      const struct forget_list *list, int64_t start,
		      const char *hours);

/* The archive: texts of the list's links.  The first function counts the rows
 * that have some. */
void forget_sql_count_links(struct buf *sql, const struct forget_list *list);
void forget_sql_links(struct buf *sql, const struct forget_list *list);

#endif
