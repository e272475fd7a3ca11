/*
 * inserts.h - takes a batch into ClickHouse: its intent is committed, the batch
 * inserted, the partition's position committed.  Belongs to the polling thread.
 *
 * The intent, first and last offset, is committed beside the offset before it.
 * The batch is sent only when the brokers have accepted that commit under this
 * member's generation.  The partition's next owner sends the very same batch,
 * and ClickHouse recognises the second of the two by its token.
 */
#ifndef COLLECTOR_INGEST_INSERTS_H
#define COLLECTOR_INGEST_INSERTS_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector_config.h"
#include "collector/collector_metrics.h"
#include "collector/exactly_once/guarantee.h"
#include "collector/ingest/batch_insert.h"
#include "collector/ingest/connections.h"
#include "collector/ingest/insert_breaker.h"
#include "collector/ingest/insert_workers.h"
#include "collector/ingest/partition.h"
#include "collector/ingest/partitions.h"
#include "collector/ingest/schedule.h"
#include "common/kafka/consumer.h"
#include "common/log.h"

struct inserts {
	const struct collector_settings *settings;
	const char *collector; /* the collector's name */
	struct log *log;
	struct collector_metrics *metrics;
	struct kafka_consumer *consumer;
	struct insert_workers *workers;
	struct connections *connections;
	struct schedule *schedule;
	const struct guarantee *guarantee;
	struct batch_insert_setup setup;
	struct insert_breaker breaker;

	size_t retry_turn; /* index of the partition that was tried last */
	bool progressed;   /* something ended: check the partitions */
};

/* The partition's batch takes no more events: its intent is committed, then it
 * is sent.  If memory runs out, the batch stays as it is, and is tried
 * again. */
void inserts_begin(struct inserts *in, struct partition *p);

/* Commits the partition's position, and the intent of the batch that is being
 * inserted. */
void inserts_commit(struct inserts *in, struct partition *p);
/* Handles Kafka's answer to that commit.  A partition that was CLAIMING is
 * SEEKING then. */
void inserts_on_committed(struct inserts *in, struct partition *p,
			  const struct error *err);

/* Begins batches that are due, sends those that are ready, and repeats commits
 * that failed.  `now`: monotonic. */
void inserts_update(struct inserts *in, const struct partitions *all,
		    int64_t now);

#endif
