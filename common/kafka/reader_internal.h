/* reader_internal.h - a reader's parts.  Internal to common/kafka. */
#ifndef COMMON_KAFKA_READER_INTERNAL_H
#define COMMON_KAFKA_READER_INTERNAL_H

#include <stdbool.h>

#include "common/kafka/reader.h"

struct kafka_reader {
	rd_kafka_t *rk;
	char said[256]; /* what librdkafka complained of last */
	/* The stretch. */
	char *topic;
	int32_t partition;
	int64_t next, end;
	uint64_t taken;
	bool open;
};

/* Fills err from what librdkafka said; -1.  `partition` -1: all of the topic.
 */
int kafka_reader_refuse(struct kafka_reader *r, const char *what,
			const char *topic, int32_t partition,
			rd_kafka_resp_err_t code, struct error *err);

/* A list of one, the caller's to destroy. */
rd_kafka_topic_partition_list_t *
kafka_reader_one(const char *topic, int32_t partition, int64_t offset);

#endif
