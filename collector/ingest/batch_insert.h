/*
 * batch_insert.h - inserts a batch: its dead letters are acknowledged, its rows
 * inserted, and the insert is reported.  It is a job of the insert workers.
 */
#ifndef COLLECTOR_INGEST_BATCH_INSERT_H
#define COLLECTOR_INGEST_BATCH_INSERT_H

#include <stdatomic.h>
#include <stdint.h>

#include "collector/collector_metrics.h"
#include "collector/dead_letters.h"
#include "collector/exactly_once/batch.h"
#include "collector/exactly_once/insertion.h"
#include "collector/ingest/insert_workers.h"

struct inserts;
struct partition;

/* The parts that all inserts of a collector share; they outlive the inserts. */
struct batch_insert_setup {
	struct dead_letters *dead_letters;
	struct collector_metrics *metrics;
};

enum batch_insert_result {
	BATCH_INSERT_DONE,
	BATCH_INSERT_CLICKHOUSE_FAILED,
	/* Dead letters are not acknowledged yet. */
	BATCH_INSERT_KAFKA_FAILED,
	/* The dead letters must be made again. */
	BATCH_INSERT_DEAD_LETTERS_LOST,
	BATCH_INSERT_TOO_LATE, /* the batch must be made again */
};

struct batch_insert {
	struct insert_job job;
	const struct batch_insert_setup *setup;
	struct inserts *inserts;
	struct partition *partition;
	const atomic_uint *letters_given_up; /* the partition's */
	enum sink_table table;
	struct progress_origin origin;
	struct batch batch;
	struct insertion_state rows, report; /* the states of its two inserts */
	bool tried;

	enum batch_insert_result result;
	struct error err;
};

/* Moves the batch into the job and leaves an empty batch, which has the memory
 * of `spare`. */
struct batch_insert *batch_insert_new(const struct batch_insert_setup *setup,
				      struct batch *batch, struct batch *spare);
void batch_insert_free(struct batch_insert *d); /* NULL accepted */

/* Sets what is known of both inserts: see struct insertion_state. */
void batch_insert_know(struct batch_insert *d, bool doubt, int64_t known_ms,
		       int64_t kept_ms);

#endif
