/* consumer_internal.h - a consumer's parts.  Internal to common/kafka. */
#ifndef COMMON_KAFKA_CONSUMER_INTERNAL_H
#define COMMON_KAFKA_CONSUMER_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "common/kafka/consumer.h"
#include "common/kafka/watch.h"

struct kafka_consumer {
	rd_kafka_t *rk;
	rd_kafka_queue_t *queue;   /* the queue that poll takes from */
	rd_kafka_topic_t *topic;   /* the first; the watch queries it */
	rd_kafka_queue_t *commits; /* answers to commits */
	struct kafka_consumer_options options;
	struct kafka_watch *watch;
	atomic_bool up;	      /* brokers, according to the watch */
	atomic_bool assigned; /* the group has assigned partitions */
	bool was_assigned;    /* the group has assigned partitions before */
	bool closing;
	size_t most_fetched; /* since the brokers were last woken */
	double mean_bytes;   /* per record */
};

#endif
