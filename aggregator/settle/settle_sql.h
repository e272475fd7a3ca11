/*
 * settle_sql.h - the statements that compute settled counts from `clicks`.
 * Their texts are files of aggregator/sql/.
 *
 * Only names of the closed tables and the program's own numbers are written
 * into their text; all variable values are parameters.
 *
 * What statements share is in aggregator/sql/parts/.  A click (is_click) is an
 * event that was answered with a redirect; robots (is_bot) are all verdicts
 * except people and prefetching browsers.  is_in_range compares ts as
 * DateTime64, so that the order and the partitions of the table are used.
 * digest_of_address hashes an address as bytes, because servers differ in how
 * they hash the type IPv6.
 *
 * The counts that a day was settled from whose rows of `clicks` were dropped,
 * up to an offset of each source, are its base
 * (schemas/clickhouse/dropped_sources.sql).  Rows behind these offsets are
 * settled beside the base: each attempt is the base and these rows
 * (rows_beside).  Rows that are in the base are skipped, even if they still
 * exist or exist again.  Counts that were computed with one base must not be
 * published beside another: the statement that publishes checks that the day's
 * newest drop is the parameter `dropped` (0: none).  So statements that read
 * rows have another form for these days (`dropped`).
 */
#ifndef AGGREGATOR_SETTLE_SETTLE_SQL_H
#define AGGREGATOR_SETTLE_SETTLE_SQL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"

/* Stands for an hour's events if its dimensions have different numbers. */
#define SETTLE_SQL_UNEVEN UINT64_MAX

/* The rows of `clicks` that hours are settled from; zeroed: all rows. */
struct settle_rows {
	bool dropped; /* rows beside the base of the drop */
	/*
	 * Conditions for an hour that is settled by what arrived
	 * (open_hours.h): on its rows, and on the rows that its last attempt
	 * lacks; NULL: none.
	 */
	const char *upto, *added;
	bool based; /* added to the attempt in the parameter base */
};

/*
 * Computes some hours of stats_hourly, in all dimensions, under one attempt.
 * Parameters: hours (their starts, seconds since 1970), start and end of the
 * range they lie in, attempt, most (values kept), base.  It is one statement,
 * so that an attempt is one insert.
 */
void settle_sql_hours(struct buf *sql, const struct settle_rows *rows);

/* Computes one day of link_slots or link_days.  Parameters: start, end,
 * attempt. */
extern const char settle_sql_link_slots[];
extern const char settle_sql_link_days[];
extern const char settle_sql_dropped_slots[];
extern const char settle_sql_dropped_days[];

/*
 * Statements about some hours.  Parameters: hours, attempts, blocks, rows,
 * counts, provisional (arrays of one length), start, end, read_until,
 * complete_until, now, settler, dropped.
 */
/* hour; rows of clicks and events of its base; rows that are 'repeated' if the
 * day was not dropped */
void settle_sql_hour_rows(struct buf *sql, const struct settle_rows *rows);
extern const char settle_sql_hour_base[]; /* hour; events of its base */
/* hour; attempt; its events in each dimension, or SETTLE_SQL_UNEVEN */
void settle_sql_hour_staged(struct buf *sql);
/* Hour; events published so far. */
extern const char settle_sql_hour_published[];
/* Hour; 'repeated' events staged. */
extern const char settle_sql_hour_repeated[];
/* Hour; values that are not kept one by one. */
extern const char settle_sql_hour_rest[];
/* Publishes the hours for which the server finds as many events as were
 * counted, in each dimension, unless their day was dropped meanwhile. */
void settle_sql_publish_hours(struct buf *sql);
/* Number of days of the hours that were dropped meanwhile. */
extern const char settle_sql_hours_dropped[];
/* Number of hours that are published under these attempts. */
extern const char settle_sql_hours_written[];

/*
 * Statements about a day.  Parameters: start, end, attempt, blocks, rows,
 * slots, visits, read_until, complete_until, now, settler, dropped.
 */
/* Rows of clicks and events of the base; those of links; events published in
 * the day's hours; rows that are 'repeated'. */
extern const char settle_sql_day_rows[], settle_sql_dropped_day_rows[];
/* Staged events of link_slots and of link_days; the same for published ones. */
extern const char settle_sql_day_staged[];
extern const char settle_sql_publish_day[];
/* Whether the day was dropped meanwhile; then it is not published. */
extern const char settle_sql_day_dropped[];
extern const char settle_sql_day_written[];

#endif
