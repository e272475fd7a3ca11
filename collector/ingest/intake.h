/*
 * intake.h - takes records from Kafka into their partitions' batches, or to the
 * dead letters.  Belongs to the polling thread.
 */
#ifndef COLLECTOR_INGEST_INTAKE_H
#define COLLECTOR_INGEST_INTAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector_metrics.h"
#include "collector/dead_letters.h"
#include "collector/enrich/enricher.h"
#include "collector/exactly_once/passes.h"
#include "collector/ingest/backpressure.h"
#include "collector/ingest/inserts.h"
#include "collector/ingest/live.h"
#include "collector/ingest/partitions.h"
#include "collector/ingest/schedule.h"
#include "common/kafka/consumer.h"
#include "common/kafka/record.h"
#include "common/log.h"

struct intake {
	struct log *log;
	struct collector_metrics *metrics;
	struct kafka_consumer *consumer;
	struct enricher *enricher;
	struct dead_letters *dead_letters;
	struct partitions *partitions;
	struct schedule *schedule;
	struct backpressure *backpressure;
	struct inserts *inserts;
	struct live *live; /* NULL: clicks are not shown live */
	const struct passes *passes;

	int64_t logged_at; /* monotonic: when a dead letter was last logged */
	bool filled;	   /* a batch became full: check the batches */
};

void intake_take(struct intake *in, const struct kafka_record *record);

/* Matches kafka_end_fn. */
void intake_end(struct intake *in, const char *topic, int32_t number,
		int64_t offset);

/*
 * Passes over gap->first to gap->last, which is where the partition stands.
 * The offsets are reported as a batch of their own, with an intent, or within
 * the repeated batch, which must not end inside them.  Returns false if a batch
 * before the gap is not stored yet.
 */
bool intake_pass(struct intake *in, struct partition *p,
		 const struct batch *gap);

/* Seeks to the first record that was not taken, where that failed before. */
void intake_reread(struct intake *in);

#endif
