/*
 * connections.h - whether Kafka and ClickHouse are there, as the last answers
 * of both tell: what /readyz says of them and the log, once a change.  Belongs
 * to the polling thread, all but connections_kafka.
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
	atomic_bool kafka_up; /* its brokers answer */
	bool kafka_rejects;   /* they answer, but not as they should */
	int64_t clickhouse_answered_at; /* monotonic */
	bool clickhouse_is_new;		/* see connections_clickhouse_is_new */
};

/* Registers "kafka" and "clickhouse". */
void connections_init(struct connections *c, struct health *health,
		      struct log *log);

/* As kafka_state_fn, on librdkafka's thread. */
void connections_kafka(struct connections *c, bool up, const char *reason);
/* Kafka answers with a refusal; until connections_kafka_accepted. */
void connections_kafka_rejected(struct connections *c, const char *reason);
void connections_kafka_accepted(struct connections *c);
bool connections_kafka_up(struct connections *c);

void connections_clickhouse_up(struct connections *c);
void connections_clickhouse_down(struct connections *c,
				 const struct error *err);
/* Once after it came back: it may be another server, or configured anew. */
bool connections_clickhouse_is_new(struct connections *c);

#endif
