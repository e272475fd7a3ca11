/* consumer_conf.h - librdkafka's properties of a consumer. */
#ifndef COMMON_KAFKA_CONSUMER_CONF_H
#define COMMON_KAFKA_CONSUMER_CONF_H

#include "common/error.h"
#include "common/kafka/consumer.h"
#include "common/kafka/kafka.h"

/* What bounds and times is left to kafka.options where those name it; what the
 * consumer's promises rest on is not. */
int consumer_conf_set(rd_kafka_conf_t *conf, const struct kafka_config *config,
		      const struct kafka_consumer_options *options,
		      struct error *err);

#endif
