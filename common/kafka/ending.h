/*
 * ending.h - the end of a librdkafka client, within a bound of time.
 *
 * librdkafka 2.0 can lock itself out while it is destroyed: a
 * broker answers a late fetch with "no such offset", the broker's thread wants
 * the offset reset by the main thread, whose queue is closed by then, and so
 * runs the reset itself, again and again, under the partition's lock.  Such a
 * fetch follows a batch with a wrong checksum.  Nobody may wait for that.
 */
#ifndef COMMON_KAFKA_ENDING_H
#define COMMON_KAFKA_ENDING_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	KAFKA_ENDING_MS = 10000 /* longer than a busy machine takes */
};

/*
 * Waits, at most that long, until what was asked of the partitions' leaders is
 * answered: a broker answers in order.  Each of `partitions` has the offset
 * RD_KAFKA_OFFSET_END, which is overwritten.
 *
 * For a consumer that is closed, before it is destroyed; and for one whose
 * partitions were assigned, before others are assigned or it is closed, unless
 * something came of them.  librdkafka 2.0 aborts the process when partitions
 * are taken from it that were assigned again a moment ago: it counts one stop
 * of each of them, and there are two.
 */
void kafka_client_drain(rd_kafka_t *rk,
			rd_kafka_topic_partition_list_t *partitions,
			int timeout_ms);

/*
 * Destroys a client, from which everything was given back, in a thread of its
 * own.  False: it has not ended in time, and is left to that thread, with its
 * own threads, until the process ends.  No callback comes from it: our clients
 * have none but those that polling calls.
 */
bool kafka_client_destroy(rd_kafka_t *rk, int timeout_ms);

#endif
