/*
 * assignments.h - assigns, recovers and revokes partitions.  Belongs to the
 * polling thread.
 *
 * A partition that was assigned stays paused until it is known where its last
 * owner stopped (recovery.h), and until that position is committed again under
 * this member's generation.  Kafka's callbacks never wait for ClickHouse.
 */
#ifndef COLLECTOR_INGEST_ASSIGNMENTS_H
#define COLLECTOR_INGEST_ASSIGNMENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/collector_metrics.h"
#include "collector/ingest/connections.h"
#include "collector/ingest/insert_workers.h"
#include "collector/ingest/inserts.h"
#include "collector/ingest/partitions.h"
#include "collector/ingest/recovery.h"
#include "collector/ingest/schedule.h"
#include "common/app/health.h"
#include "common/kafka/consumer.h"
#include "common/log.h"

struct assignments {
	struct log *log;
	struct metrics *registry;
	struct collector_metrics *metrics;
	struct health_check *health; /* down while a partition is STOPPED */
	const char *topic_links;
	struct kafka_consumer *consumer;
	struct insert_workers *workers;
	struct connections *connections;
	struct partitions *partitions;
	struct schedule *schedule;
	struct inserts *inserts;
	struct enricher *enricher;
	struct recovery_setup setup;
	/* Nothing is read before they are loaded. */
	const struct passes *passes;

	/* Monotonic.  Partitions that are revoked together share the time
	 * limit; 0: none is being revoked. */
	int64_t drain_from;
};

/* These match kafka_assigned_fn and kafka_revoked_fn.  `wait`: wait for the
 * work under way. */
void assignments_add(struct assignments *a, const char *topic, int32_t number);
void assignments_revoke(struct assignments *a, const char *topic,
			int32_t number, bool lost, bool wait);

/* Starts the recoveries that are due, and starts to read the partitions that
 * are claimed.  `now`: monotonic. */
void assignments_update(struct assignments *a, int64_t now);

#endif
