/*
 * dropped.h - SQL for days whose rows of `clicks` were dropped.
 *
 * The counts that such a day was settled from, up to an offset of each source,
 * are its base (schemas/clickhouse/dropped_sources.sql).  Rows behind these
 * offsets are settled beside the base: each attempt is the base and these rows.
 * Rows that are in the base are skipped, even if they still exist or exist
 * again.
 *
 * Counts that were computed with one base must not be published beside another:
 * the statement that publishes checks that the day's newest drop is the
 * parameter `dropped` (0: none).
 */
#ifndef AGGREGATOR_SETTLE_DROPPED_H
#define AGGREGATOR_SETTLE_DROPPED_H

#include "aggregator/settle/settle_sql.h"

/*
 * SQL: rows of `clicks` from start to end (parameters, within one day), without
 * those in the base of the drop whose number is the parameter `drop`.
 */
#define SQL_BEYOND(drop)                                                       \
	"(SELECT clicks.* FROM clicks LEFT JOIN "                              \
	"(SELECT epoch AS f_epoch, topic AS f_topic, partition AS "            \
	"f_partition, max(last) AS f_last, 1 AS f_known FROM dropped_sources " \
	"WHERE day = toDate(toDateTime({start:UInt32}, 'UTC')) AND "           \
	"attempt = {" drop ":UInt64} GROUP BY f_epoch, f_topic, f_partition) " \
	"AS f ON clicks.epoch = f.f_epoch AND clicks.topic = f.f_topic AND "   \
	"clicks.partition = f.f_partition WHERE " SQL_RANGE                    \
	" AND (f_known = 0 OR clicks.offset > f_last))"

/*
 * Rows that are settled beside the base; for a day that was not dropped, all.
 */
#define SQL_BESIDE SQL_BEYOND("dropped")

/* Hours from start to end, with their attempts in the base. */
#define SQL_BASE_HOURS                                                         \
	"(SELECT unit, max(attempt) FROM settled WHERE kind = 'base_hour' "    \
	"AND unit >= toDateTime({start:UInt32}, 'UTC') AND "                   \
	"unit < toDateTime({end:UInt32}, 'UTC') GROUP BY unit)"

/* Rows of stats_hourly that are the base of hours from start to end. */
#define SQL_IN_BASE                                                            \
	"hour >= toDateTime({start:UInt32}, 'UTC') AND "                       \
	"hour < toDateTime({end:UInt32}, 'UTC') AND "                          \
	"(hour, attempt) IN " SQL_BASE_HOURS

/* Events in the base of the day that begins at start. */
#define SQL_BASE_EVENTS                                                        \
	"(SELECT sum(events) FROM stats_hourly WHERE dimension = 'total' "     \
	"AND " SQL_IN_BASE ")"

#endif
