/*
 * ingest/batch_insert.h - a block on its way: dead letters acknowledged, rows inserted,
 * the insert reported.  A job of the couriers.
 */
#ifndef COLLECTOR_INGEST_BATCH_INSERT_H
#define COLLECTOR_INGEST_BATCH_INSERT_H

#include <stdatomic.h>
#include <stdint.h>

#include "collector/exactly_once/batch.h"
#include "collector/collector_metrics.h"
#include "collector/ingest/dead_letters.h"
#include "collector/ingest/insert_workers.h"
#include "collector/exactly_once/insertion.h"

struct slot;

/* What all deliveries of a collector have in common; outlives them. */
struct delivery_setup {
	struct dead_letters *dead_letters;
	struct collector_metrics *metrics;
	const char *collector; /* its name */
};

enum delivery_result {
	DELIVERY_DONE,
	DELIVERY_CLICKHOUSE_FAILED,
	DELIVERY_KAFKA_FAILED,	    /* dead letters not yet acknowledged */
	DELIVERY_DEAD_LETTERS_LOST, /* they must be made again */
	DELIVERY_TOO_LATE,	    /* it is to be made anew */
};

struct delivery {
	struct courier_job job;
	const struct delivery_setup *setup;
	struct slot *slot;
	uint32_t lease;
	atomic_bool *dead_letter_failed;
	enum sink_table table;
	struct progress_origin origin;
	struct batch batch;
	struct insertion_state rows, report; /* of its two inserts */
	bool tried;

	enum delivery_result result;
	struct error err;
};

/* Takes the batch over and leaves an empty one, with the memory of `spare`. */
struct delivery *delivery_new(const struct delivery_setup *setup,
			      struct batch *batch, struct batch *spare);
void delivery_free(struct delivery *d); /* NULL accepted */

/* What is known of both inserts: see struct insertion_state. */
void delivery_know(struct delivery *d, bool doubt, int64_t known_ms,
		   int64_t kept_ms);

/* The job's `run`.  On failure the same job goes on, by what is stored then. */
void delivery_run(struct courier_job *job, struct sink *sink);

#endif
