/*
 * backpressure.h - pauses partitions that may bring no more for now, and
 * resumes them: those whose batch is over its limit, and those that hold more
 * than memory has for them (row_budget.h).  Belongs to the polling thread.
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
	size_t memory; /* setting collector.memory */
	size_t used;   /* as last measured */
	size_t paused; /* partitions */
	int64_t measured_at;
	int64_t trimmed_at;
	int64_t tightened_at;
};

/* Looks at all partitions, and now and then at what the process holds.  After
 * batches were inserted, and every few ms.  `now`: monotonic. */
void backpressure_update(struct backpressure *b, const struct partitions *all,
			 int64_t now);

/* The partition's batch took something: it held `before` bytes. */
void backpressure_took(struct backpressure *b, const struct partitions *all,
		       struct partition *p, size_t before);

enum {
	BACKPRESSURE_TEXT_MAX = 160
};
/* How near each bound is, for people.  Returns `text`. */
const char *backpressure_text(const struct backpressure *b,
			      char text[BACKPRESSURE_TEXT_MAX]);

#endif
