/*
 * insert_workers.h - a few threads that talk to ClickHouse, so that the thread
 * which polls Kafka never waits for an answer.
 *
 * A job runs on a worker; its `done` runs on the polling thread, inside
 * insert_workers_serve.  Jobs wait in order while all workers are busy; the
 * submitting code limits their number (one batch per partition).
 */
#ifndef COLLECTOR_INGEST_INSERT_WORKERS_H
#define COLLECTOR_INGEST_INSERT_WORKERS_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/exactly_once/sink.h"
#include "common/error.h"
#include "common/loop/workers.h"

struct insert_workers;
struct insert_job;

/* The first member of each job; the other members belong to the job's owner. */
struct insert_job {
	struct work work; /* first; `work` and `workers` belong to the pool */
	void (*run)(struct insert_job *job, struct sink *sink);
	void (*done)(struct insert_job *job);
	struct insert_workers *workers;
};

/* Each thread has its own connection. */
struct insert_workers *
insert_workers_new(unsigned threads, const struct clickhouse_config *config,
		   struct error *err);
/* Jobs that have not begun are `done` without having run; running jobs are
 * aborted: an insert may then be stored or not.  NULL accepted. */
void insert_workers_free(struct insert_workers *w);

void insert_workers_submit(struct insert_workers *w, struct insert_job *job);

/* Calls `done` for each ended job, waiting up to timeout_ms for the first;
 * returns their number. */
size_t insert_workers_serve(struct insert_workers *w, int timeout_ms);

/* Whether an ended job waits to be served. */
bool insert_workers_ended(struct insert_workers *w);

/* Jobs whose `done` is still to come. */
size_t insert_workers_pending(const struct insert_workers *w);

#endif
