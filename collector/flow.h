/*
 * flow.h - how events flow through a collector: records into blocks, blocks
 * into ClickHouse, partitions in and out, and what happens when one of these
 * stops.  Internal to collector.c; all of it runs on the collector's thread.
 */
#ifndef COLLECTOR_FLOW_H
#define COLLECTOR_FLOW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/collector_config.h"
#include "collector/collector_metrics.h"
#include "collector/dead_letters.h"
#include "collector/enrich/enricher.h"
#include "collector/gates.h"
#include "collector/intake.h"
#include "collector/limits/memory.h"
#include "collector/reloader.h"
#include "collector/schedule.h"
#include "collector/slots.h"
#include "collector/writer.h"
#include "common/app/app.h"

enum {
	COLLECTOR_NAME_MAX = 255
};

struct collector {
	const struct collector_config *config;
	const struct collector_settings *settings;
	struct log *log;
	struct metrics *registry;
	struct collector_metrics metrics;
	struct health_check *kafka_health, *clickhouse_health;
	const char *topics[3];
	char name[COLLECTOR_NAME_MAX + 1];

	struct enricher *enricher;
	struct reloader *reloader;
	struct dead_letters *dead_letters;
	struct sink *sink;
	struct kafka_consumer *consumer;
	struct slots slots;
	struct memory_shares shares;
	struct schedule schedule;
	struct gates gates;
	struct intake intake;
	struct writer writer;

	bool blocked;	   /* a block waits for its next try */
	unsigned failures; /* in a row */
	int64_t retry_at;
	int64_t scan_at;
	int64_t tick_at;
	int64_t probe_at;
	int64_t partitions_at;
	int64_t report_at;
	atomic_bool kafka_up;
	bool kafka_trouble; /* brokers answer, but not as they should */

	pthread_t thread;
	bool running;
	atomic_bool stopping;
};

/* Kafka's callbacks; `arg` is the collector. */
void flow_on_kafka_state(void *arg, bool up, const char *reason);
void flow_on_assigned(void *arg, const char *topic, int32_t partition);
void flow_on_revoked(void *arg, const char *topic, int32_t partition,
		     bool lost);
void flow_on_end(void *arg, const char *topic, int32_t partition,
		 int64_t offset);
void flow_on_commit_failed(void *arg, const char *reason);

/* What Kafka refuses although it is there.  Over with the next block that is
 * written. */
void flow_kafka_refuses(struct collector *c, const char *reason);

void flow_take(struct collector *c, const struct kafka_record *record);
/* Goes back to the first event that was not taken. */
void flow_read_again(struct collector *c, struct slot *slot);
/* Inserts what is due; after a failure, when its time has come. */
void flow_look_after_blocks(struct collector *c, int64_t now);
/* Tells, when it is time, of partitions that have nothing new. */
void flow_report(struct collector *c, int64_t now);
/* One try to write a slot's block; a failure stops reading for a while. */
int flow_write(struct collector *c, struct slot *slot, bool wait);

void flow_clickhouse_is_up(struct collector *c);
void flow_clickhouse_is_down(struct collector *c, const struct error *err);

#endif
