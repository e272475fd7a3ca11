/*
 * unreadable_offsets.h - handles records of a partition that cannot be read, or
 * must not be.  The partition is held up there, the record is checked again for
 * a while, and then exactly its offsets are passed over.  Belongs to the
 * polling thread.
 *
 * Offsets that are passed over are a batch without rows: its intent is
 * committed, and a row of ingest_progress reports it as lost.  The partition's
 * next reader goes on after it, whether or not it could have read the records.
 */
#ifndef COLLECTOR_INGEST_UNREADABLE_OFFSETS_H
#define COLLECTOR_INGEST_UNREADABLE_OFFSETS_H

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
	/* Up, with a remark if something is held or passed. */
	struct health_check *health;
	struct kafka_consumer *consumer;
	struct partitions *partitions;
	struct intake *intake;

	/* This thread is separate: it waits for brokers, and inserts do not
	 * wait for it. */
	struct insert_workers *worker;
	struct kafka_reader *reader; /* the worker's; made when needed */
	atomic_bool stopping;

	struct passes passes; /* the operators' decisions */
	bool loading;
	int64_t load_at; /* monotonic */

	bool any_held;	 /* at the last check */
	uint64_t passed; /* number of offsets, since the start */
	char last[400];	 /* the last offsets passed, as text; "": none */
};

/* The caller sets the fields up to `intake`.  Starts the thread. */
int unreadable_open(struct unreadable *u, struct health *health,
		    struct error *err);
/* Call it before the partitions are freed.  Accepts one that was not opened. */
void unreadable_close(struct unreadable *u);

/* Matches kafka_unreadable_fn. */
void unreadable_note(struct unreadable *u, const char *topic, int32_t number,
		     const struct kafka_unreadable *what);

/* Call it every few ms.  `now`: monotonic. */
void unreadable_update(struct unreadable *u, int64_t now);

#endif
