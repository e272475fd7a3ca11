/*
 * collector.h - the daemon: reads events from Kafka and puts rows into
 * ClickHouse.
 *
 * A thread of its own polls Kafka (intake.h) and fills a batch for each
 * partition (partition.h); the insert workers insert them (insert_workers.h).
 * The intent of a batch is committed before it is sent (inserts.h), and a new
 * owner of a partition asks what is stored before it reads on (recovery.h):
 * each event is stored once.  A partition whose batch cannot be inserted is
 * paused: what is held stays bounded (backpressure.h).
 */
#ifndef COLLECTOR_INGEST_COLLECTOR_H
#define COLLECTOR_INGEST_COLLECTOR_H

#include "collector/collector_config.h"
#include "common/app/app.h"
#include "common/error.h"

struct collector;

/* Loads the reference files and opens Kafka and ClickHouse, without waiting for
 * either.  `config` and `app` must outlive it. */
struct collector *collector_new(const struct collector_config *config,
				struct app *app, struct error *err);

int collector_start(struct collector *c, struct error *err);

/* Reads the reference files again, soon.  From any thread. */
void collector_reload(struct collector *c);

/* Inserts what is held, commits, leaves the group and ends the thread. */
void collector_stop(struct collector *c);

/* NULL and a half-built one are accepted. */
void collector_free(struct collector *c);

/* The command: runs one until it is told to stop. */
int collector_serve(struct app *app, const struct collector_config *config,
		    struct error *err);

#endif
