/*
 * transaction.h - sends messages of which readers see all, or none.
 *
 * If several clients use one id, the last to start wins: it aborts what an
 * earlier one left open, and the next step of the earlier one fails with
 * ERROR_CONFLICT.  Not thread-safe.  Readers must read committed messages only,
 * as librdkafka's do by default (isolation.level).
 */
#ifndef COMMON_KAFKA_TRANSACTION_H
#define COMMON_KAFKA_TRANSACTION_H

#include <stddef.h>
#include <stdint.h>

#include "common/kafka/kafka.h"
#include "common/kafka/producer.h"

struct kafka_transaction;

/* Waits for the brokers; ERROR_REMOTE, retriable, when they are away. */
struct kafka_transaction *
kafka_transaction_new(const struct kafka_config *config, const char *id,
		      struct error *err);
/* Drops what was not committed.  NULL accepted. */
void kafka_transaction_free(struct kafka_transaction *t);

int kafka_transaction_begin(struct kafka_transaction *t, struct error *err);

struct kafka_message {
	const char *topic;
	int32_t partition; /* -1: any */
	const void *key;   /* or NULL */
	size_t key_len;
	const void *payload; /* or NULL */
	size_t len;
	const struct kafka_header *headers;
	size_t header_count;
};

/* Copies the message.  ERROR_INPUT: too large. */
int kafka_transaction_put(struct kafka_transaction *t,
			  const struct kafka_message *message,
			  struct error *err);

/*
 * Once it returns 0, all messages are stored, and the next transaction may
 * begin.  On failure none is stored, unless the error is retriable: then the
 * brokers did not answer, and either is possible.  After a failure `t` cannot
 * be used any more.
 */
int kafka_transaction_commit(struct kafka_transaction *t, struct error *err);

#endif
