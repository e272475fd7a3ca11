/* consumer_internal.h - a consumer's parts.  Internal to common/kafka. */
#ifndef COMMON_KAFKA_CONSUMER_INTERNAL_H
#define COMMON_KAFKA_CONSUMER_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "common/kafka/consumer.h"
#include "common/kafka/watch.h"

struct kafka_consumer {
	rd_kafka_t *rk;
	rd_kafka_queue_t *queue;   /* what poll takes from */
	rd_kafka_topic_t *topic;   /* the first: what the watch asks about */
	rd_kafka_queue_t *commits; /* answers to them */
	struct kafka_consumer_options options;
	struct kafka_watch *watch;
	atomic_bool up;	      /* brokers, as the watch has it */
	atomic_bool assigned; /* the group has spoken */
	bool was_assigned;    /* once */
	bool closing;
	size_t most_fetched; /* since the brokers were woken */
	double mean_bytes;   /* of a record */
};

/* A list of one partition, the caller's. */
rd_kafka_topic_partition_list_t *
consumer_one(const char *topic, int32_t partition, int64_t offset);

/* What bounds and times is left to kafka.options where those name it; what the
 * consumer's promises rest on is not. */
int consumer_conf_set(rd_kafka_conf_t *conf, const struct kafka_config *config,
		      const struct kafka_consumer_options *options,
		      struct error *err);

/* A record of that many bytes was given to the caller. */
void consumer_fetch_count(struct kafka_consumer *c, size_t len);

void kafka_committed_fill(struct kafka_committed *ret,
			  const rd_kafka_topic_partition_t *p);

/* The record takes the message over. */
void kafka_record_fill(struct kafka_record *record, rd_kafka_message_t *m);

#endif
