/*
 * delivery.h - a block on its way: dead letters acknowledged, rows inserted,
 * the insert reported.  A job of the couriers.
 */
#ifndef COLLECTOR_DELIVERY_H
#define COLLECTOR_DELIVERY_H

#include <stdatomic.h>
#include <stdint.h>

#include "collector/batch.h"
#include "collector/collector_metrics.h"
#include "collector/dead_letters.h"
#include "collector/once/couriers.h"

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
	DELIVERY_TOO_LATE,	    /* what is stored must be asked first */
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
	/* Nothing is sent when others may have sent it since longer ago than
	 * its token is surely kept: who slept meanwhile is told by no answer
	 * that they have.  CLOCK_BOOTTIME, which counts a machine's sleep. */
	int64_t named_ms;
	int64_t kept_ms;
	int64_t begun_ms; /* monotonic, of the first try; 0: none yet */

	enum delivery_result result;
	struct error err;
};

/* Takes the batch over and leaves an empty one, with the memory of `spare`. */
struct delivery *delivery_new(const struct delivery_setup *setup,
			      struct batch *batch, struct batch *spare);
void delivery_free(struct delivery *d); /* NULL accepted */

/*
 * The job's `run`.  On failure the batch keeps the stage it has reached, and
 * the same job goes on from there: the same bytes under the same token.
 */
void delivery_run(struct courier_job *job, struct sink *sink);

/* One insert, counted; `count` rows. */
int delivery_insert(struct collector_metrics *m, struct sink *sink,
		    enum sink_table table, const char *token,
		    const struct buf *rows, uint64_t count, struct error *err);

#endif
