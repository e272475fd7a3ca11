/*
 * unsent.h - messages that a client certainly did not store before it failed,
 * for the next one.  A part of the producer, and of one thread of it.
 */
#ifndef COMMON_KAFKA_UNSENT_H
#define COMMON_KAFKA_UNSENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/kafka/kafka.h"

struct unsent_message {
	int64_t given_us; /* monotonic */
	size_t number;	  /* of those kept */
	void *opaque;
	rd_kafka_headers_t *headers; /* NULL: none */
	bool has_key;
	size_t key_len, len;
	char bytes[]; /* the key, and behind it the payload */
};

/* Zeroed, it is empty. */
struct unsent {
	struct unsent_message **items;
	size_t count, size;
};

/* Copies it.  Not after its delivery report.  False: out of memory. */
bool unsent_keep(struct unsent *u, const rd_kafka_message_t *m);

/* As they were given to the client, which need not report them so: what was
 * assigned to a request lies in another queue than what came later. */
void unsent_sort(struct unsent *u);

void unsent_clear(struct unsent *u);

/* Gives a copy to librdkafka. */
rd_kafka_resp_err_t unsent_produce(const struct unsent_message *m,
				   rd_kafka_t *rk, rd_kafka_topic_t *topic);

const void *unsent_payload(const struct unsent_message *m);
#endif
