/*
 * ingest_progress.h - what the writers and the readers of the table
 * ingest_progress have to agree on, beside its columns
 * (clickhouse/ingest_progress.sql).
 */
#ifndef SCHEMAS_INGEST_PROGRESS_H
#define SCHEMAS_INGEST_PROGRESS_H

/* In the column topic, of rows that tell of no topic of Kafka: they make hours
 * stale, and no watermark waits for them. */
#define PROGRESS_TOPIC_RESCORE "rescore" /* counts that changed, no rows */
#define PROGRESS_TOPIC_IMPORT  "import:" /* and the log's name */

/* SQL: the row tells of a topic of Kafka. */
#define PROGRESS_IS_STREAM                                                     \
	"topic != '" PROGRESS_TOPIC_RESCORE                                    \
	"' AND NOT startsWith(topic, '" PROGRESS_TOPIC_IMPORT "')"

/*
 * SQL: tells the aggregator of hours whose counts changed; parameters: hours,
 * host.  It is one row more that touched them, so that they are settled from
 * another number of rows.  Twice, they are settled once more, to the same.
 *
 * It has no rows, so its offsets are a place only: `place` of the sub-query
 * `places`, which grows, since reports up to the frontier of a dropped day are
 * passed over.  `first` is one beyond: from first to last lies nothing.
 */
#define PROGRESS_REPORT_RESCORED(places)                                       \
	"INSERT INTO ingest_progress (epoch, topic, partition, partitions, "   \
	"first, last, rows, dead_lettered, hours, append_time, collector) "    \
	"SELECT 0, '" PROGRESS_TOPIC_RESCORE                                   \
	"', 0, 0, place + 1, place, 0, 0, "                                    \
	"mapFromArrays({hours:Array(UInt32)}, "                                \
	"arrayMap(h -> toUInt64(0), {hours:Array(UInt32)})), "                 \
	"now64(3, 'UTC'), {host:String} FROM (" places ")"

/* Places by the server's clock: of days that were not dropped. */
#define PROGRESS_PLACE_NOW "toUInt64(toUnixTimestamp64Milli(now64(3, 'UTC')))"
#define PROGRESS_PLACES	   "SELECT " PROGRESS_PLACE_NOW " AS place"

/* Beyond what any dropped day has, also if that clock was set back. */
#define PROGRESS_PLACES_BEYOND_DROPPED                                         \
	"SELECT greatest(" PROGRESS_PLACE_NOW ", max(last) + 1) AS place "     \
	"FROM dropped_sources WHERE topic = '" PROGRESS_TOPIC_RESCORE "'"

/* Seconds: so long before its hour began a batch may have been reported, by a
 * clock that was behind.  The aggregator settles such reports, and verify
 * expects that it has. */
#define PROGRESS_EARLY 600

#endif
