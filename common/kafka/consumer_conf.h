/* consumer_conf.h - librdkafka's properties of a consumer. */
#ifndef COMMON_KAFKA_CONSUMER_CONF_H
#define COMMON_KAFKA_CONSUMER_CONF_H

#include "common/error.h"
#include "common/kafka/consumer.h"
#include "common/kafka/kafka.h"

/* Properties that set bounds and times keep their values from kafka.options;
 * those that the consumer's guarantees rest on are always set here. */
int consumer_conf_set(rd_kafka_conf_t *conf, const struct kafka_config *config,
		      const struct kafka_consumer_options *options,
		      struct error *err);

#endif
