/*
 * facts.h - the facts about a partition from which a plan is made, for its new
 * owner and for commands that only show the plan.
 */
#ifndef COLLECTOR_EXACTLY_ONCE_FACTS_H
#define COLLECTOR_EXACTLY_ONCE_FACTS_H

#include <stdint.h>

#include "collector/collector_config.h"
#include "collector/exactly_once/plan.h"
#include "collector/exactly_once/ranges.h"
#include "collector/exactly_once/stored.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "common/kafka/consumer.h"
#include "common/kafka/consumer_commit.h"

/* Returns the setting offset_reset. */
enum plan_start facts_start(const struct collector_settings *settings);

/* Fills in what Kafka answered. */
void facts_of_kafka(struct plan_facts *f,
		    const struct kafka_committed *committed, int64_t log_start,
		    int64_t log_end);

/*
 * Fills in the rest, except `start`, which the caller must have set, and `cut`;
 * adds the offsets stored from plan_base on.  `epoch`: as configured;
 * key->epoch becomes the partition's.
 */
int facts_of_clickhouse(struct plan_facts *f, struct clickhouse *ch,
			struct stored_key *key, uint32_t epoch,
			struct ranges *stored, struct stored_report *ret,
			struct error *err);

/*
 * Returns whether the log may be another than the one that was read.  Kafka
 * should hold the last batch's last event, and no event before it that was
 * stored later.  `found`: the first offset stored after report->batch_ms; -1:
 * there is none.  Differences between brokers' clocks can look odd, too: then
 * the event itself must be compared (cut_is_whole).
 */
bool facts_look_odd(const struct plan_facts *f,
		    const struct stored_report *report, int64_t found);

#endif
