/*
 * topic_limits.h - bounds on the size of a broker's response when it is
 * unpacked.
 *
 * librdkafka unpacks a response whole, and the sender of the records decides
 * how many times larger it becomes: up to 30,000 times with zstd, 1,000 with
 * gzip.  There are two bounds.  If the brokers enforce the topic's
 * compression.type (lz4, snappy or none), the format itself has a maximum
 * ratio.  For any other topic one batch is requested at a time, and a batch
 * that unpacks to more than KAFKA_UNPACKED_MAX counts as unreadable
 * (unreadable.h).  librdkafka checks that for zstd only: with the other formats
 * the topic's max.message.bytes bounds a batch.
 */
#ifndef COMMON_KAFKA_TOPIC_LIMITS_H
#define COMMON_KAFKA_TOPIC_LIMITS_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/kafka/kafka.h"

enum {
	/* All readers of a topic use the same bound: a reader that can read
	 * what another cannot would wait for it for ever. */
	KAFKA_UNPACKED_MAX = 16 << 20,
};

/* Makes a consumer request at most `packed` bytes at a time from its brokers,
 * or one batch if `packed` is 0.  Properties named in kafka.options are not
 * changed. */
int kafka_bound_answers(rd_kafka_conf_t *conf,
			const struct kafka_config *config, size_t packed,
			struct error *err);

/* A topic's settings, as the brokers report them. */
struct kafka_topic_limits {
	char compression[24]; /* compression.type */
	int64_t max_message;  /* max.message.bytes: of a batch, packed */
	char timestamp[24];   /* message.timestamp.type */
};

/* Waits up to timeout_ms.  Fails if the client may not read the settings. */
int kafka_topic_limits_ask(rd_kafka_t *rk, const char *topic, int timeout_ms,
			   struct kafka_topic_limits *ret, struct error *err);

/* Returns how many times larger a batch of such a topic can become; 0: the
 * sender decides, there is no bound. */
size_t kafka_topic_ratio(const struct kafka_topic_limits *limits);

#endif
