/*
 * dead_letters.h - sends events that cannot be stored to a topic of their own,
 * byte for byte, with headers that give their origin and the reason.
 *
 * Headers: topic, partition, offset, reason, and where the event has them, its
 * key and how often it was sent again (tools/dlq/dlq_record.h).
 */
#ifndef COLLECTOR_DEAD_LETTERS_H
#define COLLECTOR_DEAD_LETTERS_H

#include <stdatomic.h>

#include "common/error.h"
#include "common/kafka/consumer.h"
#include "common/kafka/record.h"
#include "common/log.h"
#include "common/metrics/metrics.h"

#define LETTER_REPLAYS "replays" /* also on events that are sent again */
#define LETTER_KEY     "key"

struct dead_letters;

/* Holds up to `queue_bytes` of letters on their way.  `lost` counts the letters
 * that are too large for the topic: each is logged, too, and counts as
 * acknowledged, so that it does not block other letters. */
struct dead_letters *dead_letters_new(const struct kafka_config *config,
				      size_t queue_bytes,
				      struct metrics *metrics,
				      struct metric *lost, struct log *log,
				      struct error *err);
void dead_letters_free(struct dead_letters *d); /* NULL accepted */

/*
 * Queues a copy; after a failure the caller may try again.  If Kafka gives up
 * the copy, another thread raises *given_up, which must outlive `d`.
 */
int dead_letters_put(struct dead_letters *d, const struct kafka_record *record,
		     const char *reason, atomic_uint *given_up,
		     struct error *err);

/* Waits until Kafka has acknowledged or given up all letters; before that,
 * their offsets must not be committed. */
int dead_letters_flush(struct dead_letters *d, int64_t timeout_ms,
		       struct error *err);

#endif
