/*
 * recovery.h - finds out where a partition's last owner stopped, and what must
 * be done first.  A job of the insert workers: it may take as long as Kafka and
 * ClickHouse take to answer.
 */
#ifndef COLLECTOR_INGEST_RECOVERY_H
#define COLLECTOR_INGEST_RECOVERY_H

#include <stdbool.h>

#include "collector/enrich/forgotten.h"
#include "collector/exactly_once/plan.h"
#include "collector/exactly_once/ranges.h"
#include "collector/exactly_once/sink.h"
#include "collector/exactly_once/stored.h"
#include "collector/ingest/insert_workers.h"
#include "common/kafka/consumer.h"

struct assignments;
struct partition;

/* The parts that all recoveries of a collector share; they outlive them. */
struct recovery_setup {
	struct kafka_consumer *consumer;
	const struct kafka_config *kafka; /* used to read a log's events */
	const char *group;
	uint32_t epoch; /* the configured epoch */
	enum plan_start start;
	const char *collector; /* the collector's name */
};

struct recovery {
	struct insert_job job;
	const struct recovery_setup *setup;
	struct assignments *assignments;
	struct partition *partition;
	uint32_t assignment; /* the partition's when the recovery began */
	const char *topic;
	int32_t number;
	enum sink_table table;
	struct forgotten_state forgotten_known; /* state of the present list */

	/* The answer: */
	int64_t asked_ms; /* CLOCK_BOOTTIME, before ClickHouse was queried */
	int status;	  /* -1: err */
	bool kafka_failed;
	struct error err;
	struct plan plan;
	struct plan_facts facts;
	struct ranges stored; /* offsets from plan_base on */
	uint64_t lost;	      /* number of offsets of a gap without a row */
	int64_t since_ms;     /* later events came after this; 0: unknown */
	/* The visitors and links to leave out of events read from now on; NULL
	 * when there is nothing new, and once it is taken. */
	struct forgotten *forgotten;
};

struct recovery *recovery_new(const struct recovery_setup *setup,
			      const char *topic, int32_t number,
			      enum sink_table table);
void recovery_free(struct recovery *r); /* NULL accepted */

/* These are parts of the job, in this order. r->facts have Kafka's data.
 * Inserts that the last owner has under way are ended first: rows that it
 * stores later would not be seen. */
int recovery_ask_clickhouse(struct recovery *r, struct sink *sink,
			    struct stored_report *ret, struct error *err);
/* Makes the plan from all facts.  When it returns, a gap is in
 * ingest_progress. */
int recovery_decide(struct recovery *r, struct sink *sink, int64_t since_ms,
		    struct error *err);

#endif
