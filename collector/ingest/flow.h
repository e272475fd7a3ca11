/*
 * ingest/flow.h - how events flow through a collector: records into blocks, blocks
 * into ClickHouse, partitions in and out, and what happens when one of these
 * stops.  Internal to ingest/collector.c; all of it runs on the collector's thread.
 */
#ifndef COLLECTOR_INGEST_FLOW_H
#define COLLECTOR_INGEST_FLOW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/collector_config.h"
#include "collector/collector_metrics.h"
#include "collector/ingest/dead_letters.h"
#include "collector/ingest/batch_insert.h"
#include "collector/enrich/enricher.h"
#include "collector/ingest/backpressure.h"
#include "collector/ingest/idle.h"
#include "collector/ingest/intake.h"
#include "collector/ingest/lag.h"
#include "collector/memory.h"
#include "collector/ingest/insert_workers.h"
#include "collector/exactly_once/guarantee.h"
#include "collector/ingest/recovery.h"
#include "collector/ingest/reloader.h"
#include "collector/ingest/schedule.h"
#include "collector/ingest/partition.h"
#include "common/app/app.h"

enum {
	COLLECTOR_NAME_MAX = 255,
	IDLE_PROBE_MS = 5000, /* ClickHouse is asked when idle for this long */
};

struct collector {
	const struct collector_config *config;
	const struct collector_settings *settings;
	struct log *log;
	struct metrics *registry;
	struct collector_metrics metrics;
	struct health_check *kafka_health, *clickhouse_health;
	struct health_check *offsets_health, *guarantee_health;
	struct health_check *flow_health, *clock_health;
	const char *topics[3];
	char name[COLLECTOR_NAME_MAX + 1];

	struct enricher *enricher;
	struct reloader *reloader;
	struct dead_letters *dead_letters;
	struct couriers *couriers;
	struct kafka_consumer *consumer;
	struct slots slots;
	struct memory_shares shares;
	struct schedule schedule;
	struct gates gates;
	struct lag lag;
	struct intake intake;
	struct delivery_setup delivery;
	struct takeover_setup takeover;
	struct guarantee guarantee;
	struct measured measured;

	bool blocked;	   /* a block waits for its next try */
	unsigned failures; /* in a row */
	int64_t retry_at;
	size_t retry_turn;	      /* the slot that was tried last */
	const struct delivery *trial; /* after a failure: one is tried, */
	int64_t trial_until;	      /* and another when it takes so long */
	int64_t drain_from;	 /* partitions are being given back; 0: none */
	bool probing, reporting; /* a courier is at it */
	bool clock_wrong;	 /* and that was said */
	int64_t scan_at;
	int64_t tick_at;
	int64_t probe_at;
	int64_t measure_at;
	int64_t report_at;
	atomic_bool kafka_up;
	bool kafka_trouble; /* brokers answer, but not as they should */

	pthread_t thread;
	bool running;
	atomic_bool stopping;
};

/* --- ingest/flow.c: what is there, what is taken ------------------------------- */

void flow_on_kafka_state(void *arg, bool up, const char *reason);
void flow_on_end(void *arg, const char *topic, int32_t partition,
		 int64_t offset);

/* What Kafka refuses although it is there.  Over with the next block that is
 * written. */
void flow_kafka_refuses(struct collector *c, const char *reason);
void flow_kafka_refuses_no_more(struct collector *c);
void flow_clickhouse_is_up(struct collector *c);
void flow_clickhouse_is_down(struct collector *c, const struct error *err);
/* After a failure nothing is inserted for a while. */
void flow_block(struct collector *c, const struct error *err);
void flow_unblock(struct collector *c);

void flow_take(struct collector *c, const struct kafka_record *record);
/* Goes back to the first event that was not taken. */
void flow_read_again(struct collector *c, struct slot *slot);
/* Every few ms: blocks, partitions and answers whose time has come. */
void flow_look_after(struct collector *c, int64_t now);

/* --- ingest/inserts.c: a block is named, sent, committed ------------------------- */

/* Kafka's answer to a commit; `opaque` is the slot. */
void blocks_on_committed(void *arg, void *opaque, const struct error *err);
/* The slot's block takes no more; its intent is committed, then it is sent. */
void blocks_name(struct collector *c, struct slot *slot);
/* Commits the slot's position and, when there is one, the block named. */
void blocks_commit(struct collector *c, struct slot *slot);
/* Names what is due, sends what waits, commits what could not be. */
void blocks_look(struct collector *c, int64_t now);

/* --- ingest/assignment.c: partitions come and go -------------------------------- */

void partitions_on_assigned(void *arg, const char *topic, int32_t partition);
void partitions_on_revoked(void *arg, const char *topic, int32_t partition,
			   bool lost);
/* Asks Kafka and ClickHouse anew where the partition stands, at `at`; what was
 * read of it is dropped. */
void partitions_take_over(struct collector *c, struct slot *slot, int64_t at);
/* What was asked for was committed: the partition is this collector's. */
void partitions_claimed(struct collector *c, struct slot *slot);
void partitions_look(struct collector *c, int64_t now);

/* --- ingest/housekeeping.c ------------------------------------------------------------- */

/* Reports partitions without events, and asks how ClickHouse is. */
void upkeep_look(struct collector *c, int64_t now);

#endif
