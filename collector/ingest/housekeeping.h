/*
 * housekeeping.h - what is done now and then, whether events come or not:
 * reports of partitions without events (idle_report.h), and questions to
 * ClickHouse about itself (probe.h).  Belongs to the polling thread.
 */
#ifndef COLLECTOR_INGEST_HOUSEKEEPING_H
#define COLLECTOR_INGEST_HOUSEKEEPING_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector_config.h"
#include "collector/collector_metrics.h"
#include "collector/exactly_once/guarantee.h"
#include "collector/ingest/connections.h"
#include "collector/ingest/insert_workers.h"
#include "collector/ingest/inserts.h"
#include "collector/ingest/partitions.h"
#include "collector/ingest/schedule.h"
#include "common/app/health.h"
#include "common/kafka/consumer.h"
#include "common/log.h"

struct housekeeping {
	const struct collector_config *config;
	const char *collector; /* its name */
	struct log *log;
	struct collector_metrics *metrics;
	struct health_check *guarantee_health, *clock_health;
	struct kafka_consumer *consumer;
	struct insert_workers *workers;
	struct connections *connections;
	struct partitions *partitions;
	struct schedule *schedule;
	const struct breaker *breaker;

	struct guarantee guarantee; /* what ClickHouse promises */
	struct measured measured;
	bool reporting, probing; /* a worker is at it */
	bool clocks_differ;
	int64_t report_at, probe_at, measure_at; /* monotonic */
};

/* Registers "guarantee" and "clock". */
void housekeeping_init(struct housekeeping *h, struct health *health);

/* `now`: monotonic. */
void housekeeping_update(struct housekeeping *h, int64_t now);

#endif
