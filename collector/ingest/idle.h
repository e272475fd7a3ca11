/*
 * ingest/idle.h - jobs for the couriers that no block waits for: telling of partitions
 * that have nothing new, and asking how ClickHouse is.
 */
#ifndef COLLECTOR_INGEST_IDLE_H
#define COLLECTOR_INGEST_IDLE_H

#include "collector/exactly_once/batch.h"
#include "collector/collector_metrics.h"
#include "collector/ingest/insert_workers.h"
#include "collector/exactly_once/guarantee.h"
#include "collector/ingest/partition.h"
#include "common/kafka/consumer.h"

/*
 * Tells of partitions of clicks that were empty to their end: without it the
 * watermark would wait for them.  Each one's broker is asked where the end is,
 * so that the time told is one at which nothing was left to read.  It is
 * ClickHouse's: with a clock of its own, a collector that is a day ahead would
 * promise what nobody has read.
 */
struct idle_report {
	struct courier_job job;
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
	uint32_t partitions[SINK_TABLE_COUNT]; /* of the topics */
	int status;
	struct error err;
};

/* Of the slots that have nothing to do now.  NULL: out of memory. */
struct idle_report *idle_report_new(const struct slots *slots);
void idle_report_free(struct idle_report *r); /* NULL accepted */
void idle_report_run(struct courier_job *job, struct sink *sink);

struct idle_probe {
	struct courier_job job;
	int status;
	struct error err;
	struct guarantee guarantee;
	struct measured measured; /* what is known; measured when it is not */
	bool clock_known;
	int64_t clock_ahead_ms; /* this host's, of ClickHouse's */
};
void idle_probe_run(struct courier_job *job, struct sink *sink);

#endif
