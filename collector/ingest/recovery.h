/*
 * recovery.h - finds out where a partition's last owner stopped, and what is to
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

/* What all recoveries of a collector have in common; outlives them. */
struct recovery_setup {
	struct kafka_consumer *consumer;
	const struct kafka_config *kafka; /* to look at a log's events */
	const char *group;
	uint32_t epoch; /* configured */
	enum plan_start start;
	const char *collector; /* its name */
};

struct recovery {
	struct insert_job job;
	const struct recovery_setup *setup;
	struct assignments *assignments;
	struct partition *partition;
	uint32_t assignment; /* the partition's when this was begun */
	const char *topic;
	int32_t number;
	enum sink_table table;
	struct forgotten_state forgotten_known; /* of the list there is */

	/* the answer */
	int64_t asked_ms; /* CLOCK_BOOTTIME, before ClickHouse was asked */
	int status;	  /* -1: err */
	bool kafka_failed;
	struct error err;
	struct plan plan;
	struct plan_facts facts;
	struct ranges stored; /* offsets from plan_base on */
	uint64_t lost;	      /* of a gap, offsets without a row */
	int64_t since_ms;     /* what is behind came later; 0: not known */
	/* What events read from there on are to be without; NULL when there is
	 * nothing new, and once it is taken. */
	struct forgotten *forgotten;
};

struct recovery *recovery_new(const struct recovery_setup *setup,
			      const char *topic, int32_t number,
			      enum sink_table table);
void recovery_free(struct recovery *r); /* NULL accepted */

/* Parts of the job, in this order.  r->facts have what Kafka says.  What the
 * owner before has under way is ended first: what it stores later is not told.
 */
int recovery_ask_clickhouse(struct recovery *r, struct sink *sink,
			    struct stored_report *ret, struct error *err);
/* Makes the plan from all facts.  A gap is in ingest_progress when it returns.
 */
int recovery_decide(struct recovery *r, struct sink *sink, int64_t since_ms,
		    struct error *err);

#endif
