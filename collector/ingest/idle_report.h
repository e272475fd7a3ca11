/*
 * idle_report.h - reports the partitions of clicks that were read to their end:
 * without it the watermark would wait for them.  A job of the insert workers.
 *
 * Each partition's broker is asked where the end is, so that the time reported
 * is one at which nothing was left to read.  It is ClickHouse's: with a clock
 * of its own, a collector that is a day ahead would promise what nobody has
 * read.
 */
#ifndef COLLECTOR_INGEST_IDLE_REPORT_H
#define COLLECTOR_INGEST_IDLE_REPORT_H

#include "collector/collector_metrics.h"
#include "collector/exactly_once/batch.h"
#include "collector/ingest/insert_workers.h"
#include "collector/ingest/partitions.h"
#include "common/kafka/consumer.h"

struct housekeeping;

struct idle_report {
	struct insert_job job;
	struct housekeeping *housekeeping;
	struct kafka_consumer *consumer;
	struct collector_metrics *metrics;
	const char *collector;
	const char *topics[SINK_TABLE_COUNT]; /* of clicks and links */
	int64_t asked_ms;		      /* by ClickHouse's clock */
	size_t count;
	struct idle_entry {
		struct progress_origin origin;
		int64_t next_offset;
	} * entries;

	/* the answer: */
	bool counted;
	uint32_t topic_size[SINK_TABLE_COUNT]; /* in partitions */
	int status;
	struct error err;
};

/* Of the partitions that have nothing to do now.  NULL: out of memory. */
struct idle_report *idle_report_new(const struct partitions *all);
void idle_report_free(struct idle_report *r); /* NULL accepted */
void idle_report_run(struct insert_job *job, struct sink *sink);

#endif
