/*
 * unreadable.h - what a broker gives out and nobody can read: a batch of
 * records that cannot be decompressed, or whose checksum is wrong.
 *
 * It is a state of its partition, not of the connection: the brokers answer,
 * and the same batch comes again with each fetch until it is passed over.
 */
#ifndef COMMON_KAFKA_UNREADABLE_H
#define COMMON_KAFKA_UNREADABLE_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdint.h>

#define KAFKA_UNREADABLE_REASON_MAX 200

struct kafka_unreadable {
	int64_t first, last; /* offsets, both included */
	/* A wrong checksum can be the network's, for once.  What has a right
	 * one and cannot be decompressed is what was sent. */
	bool may_heal;
	char reason[KAFKA_UNREADABLE_REASON_MAX];
};

/* Does the event, which came in place of a record, say that of the batch at
 * m->offset? */
bool kafka_is_unreadable(const rd_kafka_message_t *m);

/* Fills what the event says: all but `last`. */
void kafka_unreadable_fill(struct kafka_unreadable *u,
			   const rd_kafka_message_t *m);

#endif
