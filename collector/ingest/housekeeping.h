/*
 * housekeeping.h - periodic work, with and without events.  Belongs to the
 * polling thread; work that has to wait is a job of the insert workers.
 *
 * Partitions of clicks that were read to their end are reported: without that
 * the watermark would wait for them.  ClickHouse is checked for its
 * availability and our tables, its guarantee (exactly_once/guarantee.h), its
 * time, and new entries of the list of what is forgotten.  Each partition's lag
 * is measured and stored in ClickHouse together with the guarantee
 * (status_row.h).
 */
#ifndef COLLECTOR_INGEST_HOUSEKEEPING_H
#define COLLECTOR_INGEST_HOUSEKEEPING_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector_config.h"
#include "collector/collector_metrics.h"
#include "collector/enrich/enricher.h"
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
	const char *collector; /* the collector's name */
	struct log *log;
	struct collector_metrics *metrics;
	struct health_check *guarantee_health, *clock_health;
	struct kafka_consumer *consumer;
	struct insert_workers *workers;
	struct connections *connections;
	struct partitions *partitions;
	struct schedule *schedule;
	const struct insert_breaker *breaker;
	struct enricher *enricher;

	struct guarantee guarantee; /* ClickHouse's guarantee */
	struct measured measured;
	bool reporting, probing, listing, telling; /* a worker runs the job */
	bool clocks_differ;
	int64_t report_at, probe_at, measure_at, list_at, tell_at; /* monotonic
								    */
	int64_t log_ends_at;
};

/* Registers "guarantee" and "clock". */
void housekeeping_init(struct housekeeping *h, struct health *health);

/* `now`: monotonic. */
void housekeeping_update(struct housekeeping *h, int64_t now);

/*
 * Sets the partitions' metrics; call it about every second.  Each fetch brings
 * the end of the log.  A paused partition is not fetched, so its lag would
 * stand still when it matters most: then its broker is queried, which may take
 * a fifth of a second.
 */
void housekeeping_set_lag(struct housekeeping *h, int64_t now);

#endif
