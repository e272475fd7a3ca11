/*
 * unreadable.h - what of a partition cannot be read, or is not to be: it is
 * held up there, looked at again for a while, and then passed over at exactly
 * its offsets.  Belongs to the polling thread.
 *
 * What is passed over is a batch without rows: its intent is committed, a row
 * of ingest_progress tells of it as lost, and whoever reads the partition next
 * goes on behind it, whether he could have read it or not.
 */
#ifndef COLLECTOR_INGEST_UNREADABLE_H
#define COLLECTOR_INGEST_UNREADABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/collector_config.h"
#include "collector/collector_metrics.h"
#include "collector/exactly_once/passes.h"
#include "collector/ingest/insert_workers.h"
#include "collector/ingest/intake.h"
#include "collector/ingest/partitions.h"
#include "common/app/health.h"
#include "common/kafka/consumer.h"
#include "common/log.h"

struct unreadable {
	const struct collector_config *config;
	struct log *log;
	struct collector_metrics *metrics;
	struct health_check *health; /* up, with a remark */
	struct kafka_consumer *consumer;
	struct partitions *partitions;
	struct intake *intake;

	/* A thread of its own: it waits for brokers, and what is inserted does
	 * not wait for it. */
	struct insert_workers *worker;
	struct kafka_reader *reader; /* the worker's; made when needed */
	atomic_bool stopping;

	struct passes passes; /* what an operator has said */
	bool loading;
	int64_t load_at; /* monotonic */

	bool any_held;	 /* when it was looked last */
	uint64_t passed; /* offsets, since the start */
	char last[400];	 /* the last of them, in words; "": none */
};

/* Fields up to `intake` are set.  Starts its thread. */
int unreadable_open(struct unreadable *u, struct health *health,
		    struct error *err);
/* Before the partitions go.  What was not opened is accepted. */
void unreadable_close(struct unreadable *u);

/* As kafka_unreadable_fn. */
void unreadable_note(struct unreadable *u, const char *topic, int32_t number,
		     const struct kafka_unreadable *what);

/* Every few ms.  `now`: monotonic. */
void unreadable_update(struct unreadable *u, int64_t now);

#endif
