/*
 * unreadable.h - a batch of records that a broker returns and no consumer can
 * read: it cannot be decompressed, or its checksum is wrong.
 *
 * It is a state of the partition, not of the connection: the brokers answer,
 * and each fetch returns the same batch until it is passed over.
 */
#ifndef COMMON_KAFKA_UNREADABLE_H
#define COMMON_KAFKA_UNREADABLE_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdint.h>

#define KAFKA_UNREADABLE_REASON_MAX 200

struct kafka_unreadable {
	int64_t first, last; /* offsets, both included */
	/* A wrong checksum can be a fault of the network, and pass.  A batch
	 * with a right checksum that cannot be decompressed was sent like
	 * that. */
	bool may_heal;
	char reason[KAFKA_UNREADABLE_REASON_MAX];
};

/* Returns true if the event, which came in place of a record, says that the
 * batch at m->offset is unreadable. */
bool kafka_is_unreadable(const rd_kafka_message_t *m);

/* Fills all that the event contains: everything but `last`. */
void kafka_unreadable_fill(struct kafka_unreadable *u,
			   const rd_kafka_message_t *m);

#endif
