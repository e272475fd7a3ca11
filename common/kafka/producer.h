/*
 * producer.h - an idempotent Kafka producer.
 *
 * Thread-safe.  A thread of its own serves delivery reports.  The queue is
 * bounded by kafka's queue.buffering.max.* options.
 */
#ifndef COMMON_KAFKA_PRODUCER_H
#define COMMON_KAFKA_PRODUCER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/kafka/kafka.h"
#include "common/metrics/metrics.h"

struct kafka_producer;

/* On the producer's own thread: `opaque` as given, err NULL when the broker has
 * acknowledged. */
typedef void kafka_delivery_fn(void *arg, void *opaque,
			       const struct error *err);
/* On the producer's own thread, when brokers go away or come back. */
typedef void kafka_state_fn(void *arg, bool up, const char *reason);

struct kafka_producer_options {
	const char *client_id;
	const char *topic;
	const char *compression;	/* lz4 | zstd | none */
	int64_t linger;			/* ms */
	int64_t delivery_timeout;	/* ms */
	kafka_delivery_fn *on_delivery; /* may be NULL */
	kafka_state_fn *on_state;	/* may be NULL */
	void *arg;
};

/* Does not wait for a broker. */
struct kafka_producer *
kafka_producer_new(const struct kafka_config *config,
		   const struct kafka_producer_options *options,
		   struct metrics *metrics, struct error *err);

/* Copies the payload.  `key` may be NULL.  Never blocks: a full queue is
 * ERROR_BUSY, retriable. */
int kafka_produce(struct kafka_producer *p, const void *key, size_t key_len,
		  const void *payload, size_t len, void *opaque,
		  struct error *err);

/* Waits for what is queued.  Returns -1 and how many remain if it takes
 * longer. */
int kafka_producer_flush(struct kafka_producer *p, int64_t timeout_ms,
			 struct error *err);

/* Messages queued or in flight. */
size_t kafka_producer_pending(const struct kafka_producer *p);

void kafka_producer_free(struct kafka_producer *p); /* NULL accepted */

#endif
