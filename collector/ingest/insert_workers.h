/*
 * couriers.h - a few threads that speak to ClickHouse, so that the thread which
 * polls Kafka never waits for an answer.
 *
 * A job runs on a courier; its `done` runs on the polling thread, inside
 * couriers_serve.  Jobs wait in order while all couriers are busy; who submits
 * them bounds them (one block a partition).
 */
#ifndef COLLECTOR_INGEST_INSERT_WORKERS_H
#define COLLECTOR_INGEST_INSERT_WORKERS_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/exactly_once/sink.h"
#include "common/error.h"

struct couriers;
struct courier_job;

/* Its first member; what else it needs is its owner's. */
struct courier_job {
	void (*run)(struct courier_job *job, struct sink *sink);
	void (*done)(struct courier_job *job, void *arg);
	struct courier_job *next;
};

/* `arg` is what `done` gets.  A connection a thread. */
struct couriers *couriers_new(unsigned threads,
			      const struct clickhouse_config *config, void *arg,
			      struct error *err);
/* Jobs not yet begun are `done` without having run; those under way are ended:
 * an insert may then be stored or not.  NULL accepted. */
void couriers_free(struct couriers *c);

void couriers_submit(struct couriers *c, struct courier_job *job);

/* Calls `done` for what has ended, waiting up to timeout_ms for the first;
 * returns their number. */
size_t couriers_serve(struct couriers *c, int timeout_ms);

/* Is there something to be served? */
bool couriers_ended(struct couriers *c);

/* Jobs whose `done` is still to come. */
size_t couriers_pending(const struct couriers *c);

#endif
