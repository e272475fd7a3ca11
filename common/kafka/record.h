/*
 * record.h - a record of a topic as librdkafka hands it out.
 */
#ifndef COMMON_KAFKA_RECORD_H
#define COMMON_KAFKA_RECORD_H

#include <librdkafka/rdkafka.h>
#include <stddef.h>
#include <stdint.h>

struct kafka_record {
	const char *topic;
	int32_t partition;
	int64_t offset;
	/* When Kafka stored it (LogAppendTime), or what the producer said where
	 * the topic is configured so; ms since 1970, -1 unknown. */
	int64_t time_ms;
	const void *key;
	size_t key_len;
	const void *payload;
	size_t len;
	/* librdkafka's own; NULL: none, then it has no headers */
	rd_kafka_message_t *message;
};

/* The record takes the message over. */
void kafka_record_fill(struct kafka_record *record, rd_kafka_message_t *m);
/* Frees the message: what the record points to is gone. */
void kafka_record_release(struct kafka_record *record);

/* The value of a record's header, or NULL.  NUL-terminated; lives as long as
 * the record. */
const char *kafka_record_header(const struct kafka_record *record,
				const char *name);

#endif
