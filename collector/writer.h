/*
 * writer.h - takes a block through its stages: dead letters acknowledged, rows
 * inserted, the insert reported, offsets committed.  Belongs to one thread.
 */
#ifndef COLLECTOR_WRITER_H
#define COLLECTOR_WRITER_H

#include <stdbool.h>

#include "collector/collector_metrics.h"
#include "collector/dead_letters.h"
#include "collector/sink.h"
#include "collector/slots.h"
#include "common/kafka/consumer.h"

struct writer {
	struct sink *sink;
	struct dead_letters *dead_letters;
	struct kafka_consumer *consumer;
	struct collector_metrics *metrics;
	uint32_t epoch;
	const char *collector; /* its name */
	uint32_t partitions;   /* of the topic of clicks; 0: not known yet */
	struct buf progress;   /* scratch */
};

enum writer_result {
	WRITER_DONE, /* the slot's block is empty again */
	WRITER_CLICKHOUSE_FAILED,
	WRITER_KAFKA_FAILED,
};

/*
 * Writes the slot's block.  On failure it keeps the stage it has reached, and
 * the same call goes on from there.  A commit that fails is only counted: the
 * rows are there, the next commit covers it.  `wait`: for the commit's answer.
 */
enum writer_result writer_write(struct writer *w, struct slot *slot, bool wait,
				struct error *err);

/*
 * Tells of partitions of clicks that were empty to their end: without it the
 * watermark would wait for them.  Each one's broker is asked where the end is,
 * so that the time told is one at which nothing was left to read.
 */
int writer_tell_idle(struct writer *w, const struct slots *slots,
		     struct error *err);

#endif
