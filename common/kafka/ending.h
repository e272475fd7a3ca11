/*
 * ending.h - ends a librdkafka client within a bound of time.
 *
 * librdkafka 2.0 can deadlock itself while it is destroyed: a broker answers a
 * late fetch with "no such offset"; the broker's thread wants the main thread
 * to reset the offset; the main thread's queue is closed by then, so the
 * broker's thread runs the reset itself, again and again, under the partition's
 * lock.  Such a fetch follows a batch with a wrong checksum.  No caller may
 * wait for that without a bound.
 */
#ifndef COMMON_KAFKA_ENDING_H
#define COMMON_KAFKA_ENDING_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	KAFKA_ENDING_MS = 10000 /* longer than it takes on a busy machine */
};

/*
 * Waits, up to timeout_ms, until the requests already sent to the partitions'
 * leaders are answered: a broker answers in order.  Each of `partitions` has
 * the offset RD_KAFKA_OFFSET_END, which is overwritten.
 *
 * It is called for a consumer that is closed, before it is destroyed; and for a
 * consumer whose partitions were assigned, before others are assigned or it is
 * closed, unless records have arrived from them.  The reason: librdkafka 2.0
 * aborts the process when partitions are revoked that were assigned again a
 * moment ago, since it expects one stop for each of them, and there are two.
 */
void kafka_client_drain(rd_kafka_t *rk,
			rd_kafka_topic_partition_list_t *partitions,
			int timeout_ms);

/*
 * Destroys a client, from which everything was given back, on a thread of its
 * own.  Returns false if the client has not ended in time: it is left to that
 * thread, with its own threads, until the process ends.  It calls no callbacks
 * then: our clients only have those that polling calls.
 */
bool kafka_client_destroy(rd_kafka_t *rk, int timeout_ms);

#endif
