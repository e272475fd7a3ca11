/*
 * ingest_progress.h - the conventions of the table ingest_progress that its
 * writers and readers share, beside its columns
 * (clickhouse/ingest_progress.sql).
 */
#ifndef SCHEMAS_INGEST_PROGRESS_H
#define SCHEMAS_INGEST_PROGRESS_H

/* Values of the column topic for rows that do not report a topic of Kafka: they
 * make hours stale, and no watermark waits for them. */
#define PROGRESS_TOPIC_RESCORE "rescore" /* changed counts, no rows */
#define PROGRESS_TOPIC_IMPORT  "import:" /* followed by the log's name */

/* SQL: the row reports a topic of Kafka. */
#define PROGRESS_IS_STREAM                                                     \
	"topic != '" PROGRESS_TOPIC_RESCORE                                    \
	"' AND NOT startsWith(topic, '" PROGRESS_TOPIC_IMPORT "')"

/*
 * SQL: reports hours whose counts changed to the aggregator; parameters: hours,
 * host.  The report adds one row to those that touched the hours, so that they
 * are settled from another number of rows.  If it is sent twice, they are
 * settled once more, with the same result.
 *
 * The report has no rows, so its offsets are only a position: `place` of the
 * sub-query `places`, which grows, since reports up to the frontier of a
 * dropped day are skipped.  `first` is greater by one: the range from first to
 * last is empty.
 */
#define PROGRESS_REPORT_RESCORED(places)                                       \
	"INSERT INTO ingest_progress (epoch, topic, partition, partitions, "   \
	"first, last, rows, dead_lettered, hours, append_time, collector) "    \
	"SELECT 0, '" PROGRESS_TOPIC_RESCORE                                   \
	"', 0, 0, place + 1, place, 0, 0, "                                    \
	"mapFromArrays({hours:Array(UInt32)}, "                                \
	"arrayMap(h -> toUInt64(0), {hours:Array(UInt32)})), "                 \
	"now64(3, 'UTC'), {host:String} FROM (" places ")"

/* Places by the server's clock: for days that were not dropped. */
#define PROGRESS_PLACE_NOW "toUInt64(toUnixTimestamp64Milli(now64(3, 'UTC')))"
#define PROGRESS_PLACES	   "SELECT " PROGRESS_PLACE_NOW " AS place"

/* A place beyond that of any dropped day, even if that clock was set back. */
#define PROGRESS_PLACES_BEYOND_DROPPED                                         \
	"SELECT greatest(" PROGRESS_PLACE_NOW ", max(last) + 1) AS place "     \
	"FROM dropped_sources WHERE topic = '" PROGRESS_TOPIC_RESCORE "'"

/* In seconds: a batch may have been reported this long before its hour began,
 * by a clock that was behind.  The aggregator settles such reports, and verify
 * expects that. */
#define PROGRESS_EARLY 600

#endif
