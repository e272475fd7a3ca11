/*
 * unsent.h - messages that a failed client certainly did not store, kept for
 * the next client.  Part of the producer; used by one thread of it.
 */
#ifndef COMMON_KAFKA_UNSENT_H
#define COMMON_KAFKA_UNSENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/kafka/kafka.h"

struct unsent_message {
	int64_t given_us; /* monotonic */
	size_t number;	  /* in the order of keeping */
	void *opaque;
	rd_kafka_headers_t *headers; /* NULL: none */
	bool has_key;
	size_t key_len, len;
	char bytes[]; /* the key, followed by the payload */
};

/* A zeroed struct is empty. */
struct unsent {
	struct unsent_message **items;
	size_t count, size;
};

/* Copies the message.  Not to be called after its delivery report.  Returns
 * false if out of memory. */
bool unsent_keep(struct unsent *u, const rd_kafka_message_t *m);

/* Sorts messages by the time they were given to the client, which may report
 * them in another order: those assigned to a request lie in another queue than
 * later ones. */
void unsent_sort(struct unsent *u);

void unsent_clear(struct unsent *u);

/* Gives a copy to librdkafka. */
rd_kafka_resp_err_t unsent_produce(const struct unsent_message *m,
				   rd_kafka_t *rk, rd_kafka_topic_t *topic);

const void *unsent_payload(const struct unsent_message *m);
#endif
