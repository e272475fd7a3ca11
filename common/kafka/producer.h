/*
 * producer.h - an idempotent Kafka producer.
 *
 * Thread-safe.  One thread of its own serves delivery reports, and another
 * polls the state of the brokers, so that the state is right also while nothing
 * is sent.  The queue is bounded by kafka.queue_messages and kafka.queue_bytes;
 * messages with one key stay in one partition, in order.
 *
 * librdkafka stops an idempotent producer for good when it no longer knows
 * which messages the brokers have ("fatal error"), for example when a leader
 * has lost the end of its log.  A new client then replaces it: messages in
 * flight are reported as failed, and messages that only waited are sent by the
 * new client.  No message is accepted meanwhile, which lasts at most half a
 * second while brokers answer.  A client that fails before it stored anything
 * is replaced after a second, then after longer delays, up to a minute; its
 * messages are reported.
 *
 * Metrics, labelled with the topic: shortloop_kafka_produced_total,
 * _delivered_total, _failed_total, _refused_total (the queue was full),
 * _renewed_total (clients that replaced a failed one), _queue_messages,
 * _queue_messages_max and _up.
 */
#ifndef COMMON_KAFKA_PRODUCER_H
#define COMMON_KAFKA_PRODUCER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/kafka/kafka.h"
#include "common/metrics/metrics.h"

struct kafka_producer;

/*
 * Called exactly once per accepted message, on the producer's own thread:
 * `opaque` as given, err NULL when the brokers have acknowledged.  On failure
 * err->retriable says that the message was certainly not stored (not_stored.h),
 * so that sending it again makes no duplicate; otherwise it may have been
 * stored.  ERROR_INPUT: too large for the topic; a retry fails again.
 */
typedef void kafka_delivery_fn(void *arg, void *opaque,
			       const struct error *err);

/* The same for a message that failed; the payload is valid during the call. */
typedef void kafka_failure_fn(void *arg, void *opaque, const void *payload,
			      size_t len, const struct error *err);

struct kafka_producer_options {
	const char *client_id;
	const char *topic;
	const char *compression;  /* lz4 | zstd | none */
	int64_t linger;		  /* ms */
	int64_t delivery_timeout; /* ms; 0: unlimited; restarts with a new
				     client */
	int64_t queue_bytes;	  /* 0: kafka.queue_bytes */
	int64_t queue_messages;	  /* 0: kafka.queue_messages */
	/* Accepts messages of any size that the brokers accept.  The brokers
	 * decide: a message that is too large for them is refused alone, never
	 * with others. */
	bool any_size;
	kafka_delivery_fn *on_delivery; /* may be NULL */
	/* Called instead of on_delivery for failures; may be NULL.  If set, it
	 * also receives the messages that waited when a client failed, since it
	 * is unknown whether they were tried before; if NULL, the next client
	 * sends those. */
	kafka_failure_fn *on_failure;
	kafka_state_fn *on_state; /* may be NULL */
	void *arg;
};

/* Does not wait for a broker.  `metrics` may be NULL.  The options are copied.
 */
struct kafka_producer *
kafka_producer_new(const struct kafka_config *config,
		   const struct kafka_producer_options *options,
		   struct metrics *metrics, struct error *err);

/*
 * Copies the payload.  `key` may be NULL.  Never blocks: a full queue is
 * ERROR_FULL, retriable; a message that is too large is ERROR_INPUT; a failed
 * client is ERROR_REMOTE, retriable until there is a new one.  After a failure
 * on_delivery is not called for this message.
 */
int kafka_produce(struct kafka_producer *p, const void *key, size_t key_len,
		  const void *payload, size_t len, void *opaque,
		  struct error *err);

/* The same without a key and without a copy: the payload has to stay unchanged
 * until on_delivery or on_failure is called for it.  on_failure receives the
 * same payload, or a copy. */
int kafka_produce_in_place(struct kafka_producer *p, const void *payload,
			   size_t len, void *opaque, struct error *err);

struct kafka_header {
	const char *name;
	const char *value;
};

/* The same without a key and with headers, which are copied too. */
int kafka_produce_headers(struct kafka_producer *p, const void *payload,
			  size_t len, const struct kafka_header *headers,
			  size_t count, void *opaque, struct error *err);

/* Waits until the queue is empty.  On timeout returns -1 (ERROR_REMOTE,
 * retriable) with the number of messages that remain. */
int kafka_producer_flush(struct kafka_producer *p, int64_t timeout_ms,
			 struct error *err);

/* Returns the number of messages that were accepted and not reported yet. */
size_t kafka_producer_queued(const struct kafka_producer *p);

/* Returns the state as on_state reports it. */
bool kafka_producer_is_up(const struct kafka_producer *p);

/* Drops the messages still queued: on_delivery is called for each before this
 * returns.  May take about two seconds while brokers are away.  NULL
 * accepted. */
void kafka_producer_free(struct kafka_producer *p);

#endif
