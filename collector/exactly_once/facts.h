/*
 * facts.h - what ClickHouse says of a partition, for the plan of who takes it
 * over and for who only asks what that would be.
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

/* Setting offset_reset. */
enum plan_start facts_start(const struct collector_settings *settings);

/* What Kafka answered. */
void facts_of_kafka(struct plan_facts *f,
		    const struct kafka_committed *committed, int64_t log_start,
		    int64_t log_end);

/*
 * Fills the rest but `start`, which it goes by, and `cut`, and adds the offsets
 * stored from plan_base on.  `epoch`: as configured; key->epoch becomes the
 * partition's.
 */
int facts_of_clickhouse(struct plan_facts *f, struct clickhouse *ch,
			struct stored_key *key, uint32_t epoch,
			struct ranges *stored, struct stored_report *ret,
			struct error *err);

/*
 * Whether the log can still be the one that was read: Kafka should hold the
 * last batch's last event, and none before it that was stored later.  Asked of
 * `found`, the first offset stored after report->batch_ms; -1: there is none.
 * What looks odd may be brokers whose clocks differ: then the event is to be
 * looked at (cut_is_whole).
 */
bool facts_look_odd(const struct plan_facts *f,
		    const struct stored_report *report, int64_t found);

#endif
