/* topic.h - makes topics. */
#ifndef COMMON_KAFKA_TOPIC_H
#define COMMON_KAFKA_TOPIC_H

#include <stdint.h>

#include "common/error.h"
#include "common/kafka/kafka.h"

/*
 * Makes a topic unless it is there.  `settings`: "key=value" strings, ended by
 * NULL; may be NULL.  Waits up to timeout_ms; a broker that is away is
 * ERROR_REMOTE, retriable.
 */
int kafka_topic_create(const struct kafka_config *config, const char *topic,
		       int partitions, int replication,
		       const char *const *settings, int64_t timeout_ms,
		       struct error *err);

#endif
