/*
 * consumer_offsets.h - the first and last offsets of a consumer's partitions.
 */
#ifndef COMMON_KAFKA_CONSUMER_OFFSETS_H
#define COMMON_KAFKA_CONSUMER_OFFSETS_H

#include <stdint.h>

#include "common/error.h"
#include "common/kafka/consumer.h"

/*
 * Returns the offset that the next record of a partition will have, as the last
 * fetch reported it; -1 if there was no fetch yet.  Does not query the brokers.
 */
int64_t kafka_consumer_log_end(struct kafka_consumer *c, const char *topic,
			       int32_t partition);

/* Returns the oldest offset that is available, likewise. */
int64_t kafka_consumer_log_start(struct kafka_consumer *c, const char *topic,
				 int32_t partition);

/* Queries the partition's leader for both.  Callable from any thread. */
int kafka_consumer_ask_log(struct kafka_consumer *c, const char *topic,
			   int32_t partition, int timeout_ms,
			   int64_t *ret_start, int64_t *ret_end,
			   struct error *err);
typedef void kafka_log_end_fn(void *arg, const char *topic, int32_t partition,
			      int64_t end);
/* Queries the brokers for the log ends of all held partitions, in one call;
 * `fn` is called for each that has answered, before this returns. */
int kafka_consumer_ask_ends(struct kafka_consumer *c, int timeout_ms,
			    kafka_log_end_fn *fn, void *arg, struct error *err);
/* Does the same, and returns the ends as offsets in a list; NULL: no partition
 * is held. */
rd_kafka_topic_partition_list_t *
kafka_consumer_ends(struct kafka_consumer *c, int timeout_ms,
		    rd_kafka_resp_err_t *ret_err);
/* Queries the log end of one partition. */
int kafka_consumer_ask_end(struct kafka_consumer *c, const char *topic,
			   int32_t partition, int timeout_ms, int64_t *ret_end,
			   struct error *err);
/* Returns the offset of the first record stored at that time or later; -1:
 * there is none.  Callable from any thread. */
int kafka_consumer_ask_time(struct kafka_consumer *c, const char *topic,
			    int32_t partition, int64_t real_ms, int timeout_ms,
			    int64_t *ret_offset, struct error *err);
/* Returns a topic's number of partitions, from the brokers' metadata. */
int kafka_consumer_ask_partitions(struct kafka_consumer *c, const char *topic,
				  int timeout_ms, uint32_t *ret_count,
				  struct error *err);

#endif
