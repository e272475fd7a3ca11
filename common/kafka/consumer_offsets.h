/*
 * consumer_offsets.h - where the logs of a consumer's partitions begin and end.
 */
#ifndef COMMON_KAFKA_CONSUMER_OFFSETS_H
#define COMMON_KAFKA_CONSUMER_OFFSETS_H

#include <stdint.h>

#include "common/error.h"
#include "common/kafka/consumer.h"

/*
 * The offset that the next record of a partition will have, as last heard with
 * a fetch; -1 when nothing was heard yet.  Does not ask the brokers.
 */
int64_t kafka_consumer_log_end(struct kafka_consumer *c, const char *topic,
			       int32_t partition);

/* The oldest offset there is, likewise. */
int64_t kafka_consumer_log_start(struct kafka_consumer *c, const char *topic,
				 int32_t partition);

/* Both, asked of the broker that leads the partition.  From any thread. */
int kafka_consumer_ask_log(struct kafka_consumer *c, const char *topic,
			   int32_t partition, int timeout_ms,
			   int64_t *ret_start, int64_t *ret_end,
			   struct error *err);
typedef void kafka_log_end_fn(void *arg, const char *topic, int32_t partition,
			      int64_t end);
/* The ends of all partitions held, asked of their brokers at once; `fn` is
 * called for each that has answered, before this returns. */
int kafka_consumer_ask_ends(struct kafka_consumer *c, int timeout_ms,
			    kafka_log_end_fn *fn, void *arg, struct error *err);
/* The same, as offsets in a list; NULL: none is held. */
rd_kafka_topic_partition_list_t *
kafka_consumer_ends(struct kafka_consumer *c, int timeout_ms,
		    rd_kafka_resp_err_t *ret_err);
/* The end of one alone. */
int kafka_consumer_ask_end(struct kafka_consumer *c, const char *topic,
			   int32_t partition, int timeout_ms, int64_t *ret_end,
			   struct error *err);
/* The offset of the first record stored at that time or later; -1: there is
 * none.  From any thread. */
int kafka_consumer_ask_time(struct kafka_consumer *c, const char *topic,
			    int32_t partition, int64_t real_ms, int timeout_ms,
			    int64_t *ret_offset, struct error *err);
/* How many partitions a topic has, by the brokers' metadata. */
int kafka_consumer_ask_partitions(struct kafka_consumer *c, const char *topic,
				  int timeout_ms, uint32_t *ret_count,
				  struct error *err);

#endif
