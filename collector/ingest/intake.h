/*
 * ingest/intake.h - takes a record of Kafka into its slot's block, or to the dead
 * letters.  Belongs to one thread.
 */
#ifndef COLLECTOR_INGEST_INTAKE_H
#define COLLECTOR_INGEST_INTAKE_H

#include "collector/collector_metrics.h"
#include "collector/ingest/dead_letters.h"
#include "collector/enrich/enricher.h"
#include "collector/ingest/partition.h"
#include "common/kafka/consumer.h"
#include "common/log.h"

struct intake {
	struct enricher *enricher;
	struct dead_letters *dead_letters;
	struct collector_metrics *metrics;
	struct log *log;
	int64_t said_ms; /* when a dead letter was last logged */
};

/*
 * Returns -1 when it could not be taken now (memory, a full queue): it must be
 * read again.
 */
int intake_take(struct intake *in, struct slot *slot,
		const struct kafka_record *record, struct error *err);

#endif
