/*
 * backpressure.h - pauses partitions that may take no more records for now, and
 * resumes them: those whose batch is over its limit, and those that hold more
 * than their share of memory (row_budget.h).  Belongs to the polling thread.
 */
#ifndef COLLECTOR_INGEST_BACKPRESSURE_H
#define COLLECTOR_INGEST_BACKPRESSURE_H

#include <stddef.h>
#include <stdint.h>

#include "collector/collector_metrics.h"
#include "collector/ingest/partitions.h"
#include "collector/ingest/row_budget.h"
#include "collector/ingest/schedule.h"
#include "common/kafka/consumer.h"
#include "common/log.h"

struct backpressure {
	struct kafka_consumer *consumer;
	const struct schedule *schedule;
	struct collector_metrics *metrics;
	struct log *log;
	struct row_budget budget;
	size_t memory; /* the setting collector.memory */
	size_t used;   /* bytes, at the last measurement */
	size_t paused; /* number of partitions */
	int64_t measured_at;
	int64_t trimmed_at;
	int64_t tightened_at;
};

/* Checks all partitions, and now and then the memory that the process uses.
 * Call it after batches were inserted, and every few ms.  `now`: monotonic. */
void backpressure_update(struct backpressure *b, const struct partitions *all,
			 int64_t now);

/* Call it after the partition's batch took records: it held `before` bytes. */
void backpressure_took(struct backpressure *b, const struct partitions *all,
		       struct partition *p, size_t before);

enum {
	BACKPRESSURE_TEXT_MAX = 160
};
/* Describes how near each bound is, for people.  Returns `text`. */
const char *backpressure_text(const struct backpressure *b,
			      char text[BACKPRESSURE_TEXT_MAX]);

#endif
