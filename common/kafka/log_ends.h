/* log_ends.h - how far the partitions of a topic reach now, outside of any
 * group. */
#ifndef COMMON_KAFKA_LOG_ENDS_H
#define COMMON_KAFKA_LOG_ENDS_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/kafka/kafka.h"

/*
 * Returns for each partition, from 0, the offset that its next record will
 * have, in *ret_ends, for free().  Waits up to timeout_ms for each answer of
 * the brokers.
 */
int kafka_log_ends(const struct kafka_config *config, const char *client_id,
		   const char *topic, int timeout_ms, int64_t **ret_ends,
		   size_t *ret_count, struct error *err);

#endif
