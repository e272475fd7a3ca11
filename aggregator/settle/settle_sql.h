/*
 * settle_sql.h - the statements that compute settled counts from `clicks`.
 *
 * Only names of the closed tables and the program's own numbers are written
 * into them; what varies goes in as parameters.
 */
#ifndef AGGREGATOR_SETTLE_SETTLE_SQL_H
#define AGGREGATOR_SETTLE_SETTLE_SQL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"

/* Instead of an hour's events: its dimensions hold different numbers. */
#define SETTLE_SQL_UNEVEN UINT64_MAX

/*
 * Conditions on a row of clicks.  A click is an event answered by a redirect;
 * robots are all verdicts but people and browsers that fetch ahead.
 */
#define SQL_CLICK    "outcome = 'redirected'"
#define SQL_HUMAN    "outcome = 'redirected' AND verdict = 'human'"
#define SQL_PREFETCH "outcome = 'redirected' AND verdict = 'prefetch'"
#define SQL_BOT                                                                \
	"outcome = 'redirected' AND verdict NOT IN ('human', 'prefetch')"

/* Clicks by all but people. */
#define SQL_OTHER "outcome = 'redirected' AND verdict != 'human'"

/* ts against the parameters `start` and `end`; as DateTime64, so that the order
 * and the partitions of the table serve. */
#define SQL_RANGE                                                              \
	"ts >= toDateTime64({start:UInt32}, 3, 'UTC') AND "                    \
	"ts < toDateTime64({end:UInt32}, 3, 'UTC')"

/* The UTC slot of 15 minutes that a row falls into. */
#define SQL_SLOT "toDateTime(intDiv(toUnixTimestamp(ts), 900) * 900, 'UTC')"

/* What sealed_slots keeps of a visitor and of an address; see there.  Of an
 * address' bytes: what a server makes of the type IPv6 is its own affair. */
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

/* Slots from start to end. */
#define SQL_IN_SLOTS                                                           \
	"slot >= toDateTime({start:UInt32}, 'UTC') AND "                       \
	"slot < toDateTime({end:UInt32}, 'UTC') "

/* A condition on stats_hourly: hours from start to end, as they are published.
 */
#define SQL_ARE_PUBLISHED                                                      \
	"(hour, attempt) IN (SELECT unit, max(attempt) FROM settled WHERE "    \
	"kind = 'hour' AND " SQL_IN_UNITS "GROUP BY unit) "

/* Rows of stats_hourly: of all dimensions' `total`; those that are published.
 */
#define SQL_TOTALS	     "stats_hourly WHERE dimension = 'total' AND " SQL_IN_HOURS
#define SQL_PUBLISHED_TOTALS SQL_TOTALS "AND " SQL_ARE_PUBLISHED

/*
 * Statements that read rows of `clicks` have another form for days that were
 * dropped (`dropped`, see dropped.h), with the parameter `dropped` more.
 */

/* Which rows of `clicks` hours are settled from; zeroed: all of them. */
struct settle_rows {
	bool dropped; /* those beside the base of the drop */
	/* Of an hour that is settled by what arrived (open_hours.h): conditions
	 * on its rows, and on those that its last attempt lacks; NULL: none. */
	const char *upto, *added;
	bool based; /* added to the attempt that is the parameter base */
};

/*
 * Computes some hours of stats_hourly, in all dimensions, under one attempt.
 * Parameters: hours (their starts, seconds since 1970), start and end of the
 * range they lie in, attempt, most (values kept), base.  One statement, so that
 * an attempt is one insert.
 */
void settle_sql_hours(struct buf *sql, const struct settle_rows *rows);

/* Computes one day of link_slots or link_days.  Parameters: start, end,
 * attempt. */
void settle_sql_link_slots(struct buf *sql);
void settle_sql_link_days(struct buf *sql);
void settle_sql_dropped_slots(struct buf *sql);
void settle_sql_dropped_days(struct buf *sql);

/*
 * Statements about some hours.  Parameters: hours, attempts, blocks, rows,
 * counts, provisional (arrays of one length), start, end, read_until,
 * complete_until, now, settler, dropped.
 */
/* hour, rows of clicks and events of its base; rows that are 'repeated', of a
 * day that was not dropped */
void settle_sql_hour_rows(struct buf *sql, const struct settle_rows *rows);
extern const char settle_sql_hour_base[]; /* hour, events of its base */
/* hour, attempt, and its events in each dimension, or SETTLE_SQL_UNEVEN */
void settle_sql_hour_staged(struct buf *sql);
extern const char settle_sql_hour_published[]; /* hour, events until now */
extern const char settle_sql_hour_repeated[];  /* hour, such events staged */
extern const char settle_sql_hour_rest[]; /* hour, values not kept one by one */
/* Publishes those hours of which the server finds as many events as were
 * counted, in each dimension, unless their day was dropped meanwhile. */
void settle_sql_publish_hours(struct buf *sql);
/* How many of the days of the hours were. */
extern const char settle_sql_hours_dropped[];
/* How many of the hours are published under these attempts. */
extern const char settle_sql_hours_written[];

/*
 * Statements about a day.  Parameters: start, end, attempt, blocks, rows,
 * slots, visits, read_until, complete_until, now, settler, dropped.
 */
/* rows of clicks and events of the base, those of links, events published in
 * the day's hours, rows that are 'repeated' */
const char *settle_sql_day_rows(bool dropped);
/* events of link_slots and of link_days that are staged; the same of what is
 * published */
extern const char settle_sql_day_staged[];
extern const char settle_sql_publish_day[];
/* Whether the day was dropped meanwhile: it is not published then. */
extern const char settle_sql_day_dropped[];
extern const char settle_sql_day_written[];

#endif
