/*
 * connections.h - whether Kafka and ClickHouse are up, according to the last
 * answers of both.  It sets what /readyz reports of them, and logs each change
 * once.  Belongs to the polling thread, except connections_kafka.
 */
#ifndef COLLECTOR_INGEST_CONNECTIONS_H
#define COLLECTOR_INGEST_CONNECTIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/app/health.h"
#include "common/error.h"
#include "common/log.h"

struct connections {
	struct log *log;
	struct health_check *kafka, *clickhouse;
	atomic_bool kafka_up; /* Kafka's brokers answer */
	bool kafka_rejects;   /* the brokers answer, but with errors */
	int64_t clickhouse_answered_at; /* monotonic */
	bool clickhouse_is_new;		/* see connections_clickhouse_is_new */
};

/* Registers "kafka" and "clickhouse". */
void connections_init(struct connections *c, struct health *health,
		      struct log *log);

/* Matches kafka_state_fn; called on librdkafka's thread. */
void connections_kafka(struct connections *c, bool up, const char *reason);
/* Kafka answers with errors; this holds until connections_kafka_accepted. */
void connections_kafka_rejected(struct connections *c, const char *reason);
void connections_kafka_accepted(struct connections *c);
bool connections_kafka_up(struct connections *c);

void connections_clickhouse_up(struct connections *c);
void connections_clickhouse_down(struct connections *c,
				 const struct error *err);
/* Returns true once after ClickHouse came back: it may be another server, or
 * have a new configuration. */
bool connections_clickhouse_is_new(struct connections *c);

#endif
