/*
 * lag.h - how many events each partition is behind the end of its log.
 *
 * Where the log ends comes with each fetch.  Of a partition that is paused
 * nothing is fetched, and its lag would stand still when it matters most: its
 * broker is asked.  Belongs to the polling thread.
 */
#ifndef COLLECTOR_INGEST_LAG_H
#define COLLECTOR_INGEST_LAG_H

#include <stdint.h>

#include "collector/ingest/partitions.h"
#include "common/kafka/consumer.h"

struct lag {
	struct kafka_consumer *consumer;
	int64_t asked_at;
};

/* Sets the slots' metrics; every second or so.  May wait for the brokers for a
 * fifth of a second when partitions are paused.  `now`: monotonic. */
void lag_update(struct lag *l, struct partitions *all, int64_t now);

#endif
