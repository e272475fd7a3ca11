/*
 * live.h - shows clicks live (GET /v1/live of the aggregator): each click is
 * written to the topic kafka.topic_live as soon as it has become a row.
 *
 * That is before the row is inserted: batches wait longer than a viewer does,
 * and while ClickHouse is away clicks are shown as long as they are read.
 * Nothing is counted from the topic.  A click that is read again, after a
 * partition has moved or a collector was killed, may be shown again.
 *
 * The collector never waits for live clicks: a click is dropped, and counted,
 * if it does not fit into the producer's queue, if the brokers do not accept it
 * within seconds, or if it is older than live_max_age.  Belongs to the polling
 * thread.
 */
#ifndef COLLECTOR_INGEST_LIVE_H
#define COLLECTOR_INGEST_LIVE_H

#include <stddef.h>

#include "collector/collector_config.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"

struct live;

/* *ret is NULL if kafka.topic_live is not set.  Holds up to `bytes`.  Does not
 * wait for a broker. */
int live_open(const struct collector_config *config, size_t bytes,
	      struct metrics *metrics, struct log *log, struct live **ret,
	      struct error *err);
/* Clicks that the brokers do not accept at once are dropped.  NULL accepted. */
void live_free(struct live *l);

/* Shows a click, given as its row of clicks.  Never waits, never fails.  NULL
 * accepted. */
void live_show(struct live *l, const void *row, size_t len);

#endif
