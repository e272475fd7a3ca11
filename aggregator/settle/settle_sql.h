/*
 * settle_sql.h - the statements that compute settled counts from `clicks`.
 * Those that are always the same are files of aggregator/sql/.
 *
 * Only names of the closed tables and the program's own numbers are written
 * into their text; all variable values are parameters.
 */
#ifndef AGGREGATOR_SETTLE_SETTLE_SQL_H
#define AGGREGATOR_SETTLE_SETTLE_SQL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"

/* Stands for an hour's events if its dimensions have different numbers. */
#define SETTLE_SQL_UNEVEN UINT64_MAX

/* Conditions on a row of clicks.  A click is an event that was answered with a
 * redirect; robots are all verdicts except people and prefetching browsers. */
#define SQL_CLICK    "outcome = 'redirected'"
#define SQL_HUMAN    "outcome = 'redirected' AND verdict = 'human'"
#define SQL_PREFETCH "outcome = 'redirected' AND verdict = 'prefetch'"
#define SQL_BOT                                                                \
	"outcome = 'redirected' AND verdict NOT IN ('human', 'prefetch')"

/* Clicks that do not come from people. */
#define SQL_OTHER "outcome = 'redirected' AND verdict != 'human'"

/* Compares ts with the parameters `start` and `end` as DateTime64, so that the
 * order and the partitions of the table are used. */
#define SQL_RANGE                                                              \
	"ts >= toDateTime64({start:UInt32}, 3, 'UTC') AND "                    \
	"ts < toDateTime64({end:UInt32}, 3, 'UTC')"

/* The UTC slot of 15 minutes that a row falls into. */
#define SQL_SLOT "toDateTime(intDiv(toUnixTimestamp(ts), 900) * 900, 'UTC')"

/*
 * The digests that sealed_slots keeps of a visitor and of an address; see
 * there.  An address is hashed as bytes, because servers differ in how they
 * hash the type IPv6.
 */
#define SQL_VISITOR "bitShiftRight(cityHash64(unique_identity), 16)"
#define SQL_ADDRESS                                                            \
	"bitShiftRight(cityHash64(reinterpretAsFixedString(ip)), 16)"

/* Hours, and units of `settled`, from start to end. */
#define SQL_IN_HOURS                                                           \
	"hour >= toDateTime({start:UInt32}, 'UTC') AND "                       \
	"hour < toDateTime({end:UInt32}, 'UTC') "
#define SQL_IN_UNITS                                                           \
	"unit >= toDateTime({start:UInt32}, 'UTC') AND "                       \
	"unit < toDateTime({end:UInt32}, 'UTC') "

/* Condition on stats_hourly: the published attempts of hours from start to
 * end. */
#define SQL_ARE_PUBLISHED                                                      \
	"(hour, attempt) IN (SELECT unit, max(attempt) FROM settled WHERE "    \
	"kind = 'hour' AND " SQL_IN_UNITS "GROUP BY unit) "

/* Rows of stats_hourly for the dimension `total`: all, and those that are
 * published. */
#define SQL_TOTALS	     "stats_hourly WHERE dimension = 'total' AND " SQL_IN_HOURS
#define SQL_PUBLISHED_TOTALS SQL_TOTALS "AND " SQL_ARE_PUBLISHED

/*
 * Statements that read rows of `clicks` have another form for days that were
 * dropped (`dropped`, see dropped.h), with `dropped` as an additional
 * parameter.
 */

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
