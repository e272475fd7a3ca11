/*
 * ingest_progress.h - what the writers and the readers of the table
 * ingest_progress have to agree on, beside its columns
 * (clickhouse/0002_ingest_progress.sql).
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

/* Seconds: so long before its hour began a batch may have been reported, by a
 * clock that was behind.  The aggregator settles such reports, and verify
 * expects that it has. */
#define PROGRESS_EARLY 600

#endif
