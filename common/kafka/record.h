/*
 * record.h - a record of a topic as librdkafka returns it.
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
	/* The time at which Kafka stored it (LogAppendTime), or the producer's
	 * time if the topic is configured so; ms since 1970, -1 unknown. */
	int64_t time_ms;
	const void *key;
	size_t key_len;
	const void *payload;
	size_t len;
	/* librdkafka's own; NULL: none, and then no headers */
	rd_kafka_message_t *message;
};

/* The record takes ownership of the message. */
void kafka_record_fill(struct kafka_record *record, rd_kafka_message_t *m);
/* Frees the message: pointers in the record are invalid afterwards. */
void kafka_record_release(struct kafka_record *record);

/* Returns the value of a record's header, or NULL.  The value is NUL-terminated
 * and lives as long as the record. */
const char *kafka_record_header(const struct kafka_record *record,
				const char *name);

#endif
