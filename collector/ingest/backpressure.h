/*
 * ingest/backpressure.h - shuts partitions that may bring no more for now, and opens them
 * again: those whose block takes no more, and those that hold more than memory
 * has for them (ingest/row_budget.h).  Belongs to one thread.
 */
#ifndef COLLECTOR_INGEST_BACKPRESSURE_H
#define COLLECTOR_INGEST_BACKPRESSURE_H

#include <stddef.h>
#include <stdint.h>

#include "collector/collector_metrics.h"
#include "collector/ingest/row_budget.h"
#include "collector/ingest/schedule.h"
#include "collector/ingest/partition.h"
#include "common/kafka/consumer.h"
#include "common/log.h"

struct gates {
	struct kafka_consumer *consumer;
	const struct schedule *schedule;
	struct collector_metrics *metrics;
	struct log *log;
	struct valve valve;
	size_t memory; /* setting collector.memory */
	size_t used;   /* as last measured */
	size_t shut;   /* partitions */
	int64_t measured_at;
	int64_t trimmed_at;
	int64_t pressed_at;
};

/* Looks at all partitions, and now and then at what the process holds.  After
 * blocks were inserted, and every few ms.  `now`: monotonic. */
void gates_look(struct gates *g, const struct slots *slots, int64_t now);

/* The slot's block took something: it held `before` bytes. */
void gates_took(struct gates *g, const struct slots *slots, struct slot *slot,
		size_t before);

enum {
	GATES_TEXT_MAX = 160
};
/* How near each bound is, for people.  Returns `text`. */
const char *gates_text(const struct gates *g, char text[GATES_TEXT_MAX]);

#endif
