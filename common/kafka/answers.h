/*
 * answers.h - what an answer of a broker becomes when it is unpacked.
 *
 * librdkafka unpacks an answer whole, and how many times its size that makes is
 * for the sender to choose: 30,000 with zstd, 1,000 with gzip.  Two things
 * bound it.  A topic whose compression.type the brokers keep (lz4, snappy or
 * none) has the most that this format can make, whatever comes.  Of any other
 * one batch is asked for at a time, and one that unpacks to more than
 * KAFKA_UNPACKED_MAX counts as unreadable (unreadable.h).  librdkafka looks at
 * that only for zstd: of the other formats the topic's max.message.bytes bounds
 * a batch.
 */
#ifndef COMMON_KAFKA_ANSWERS_H
#define COMMON_KAFKA_ANSWERS_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/kafka/kafka.h"

enum {
	/* The same for all who read a topic: one that can read what another
	 * cannot would wait for it for ever. */
	KAFKA_UNPACKED_MAX = 16 << 20,
};

/* Asks a consumer's brokers for at most `packed` bytes at a time, and for one
 * batch when that is 0.  What kafka.options name stays as it is. */
int kafka_bound_answers(rd_kafka_conf_t *conf,
			const struct kafka_config *config, size_t packed,
			struct error *err);

/* What the brokers say of a topic. */
struct kafka_topic_limits {
	char compression[24]; /* compression.type */
	int64_t max_message;  /* max.message.bytes: of a batch, packed */
	char timestamp[24];   /* message.timestamp.type */
};

/* Waits up to timeout_ms.  Fails where that may not be asked. */
int kafka_topic_limits_ask(rd_kafka_t *rk, const char *topic, int timeout_ms,
			   struct kafka_topic_limits *ret, struct error *err);

/* How many times its size a batch of such a topic can become; 0: as the sender
 * likes. */
size_t kafka_topic_ratio(const struct kafka_topic_limits *limits);

#endif
