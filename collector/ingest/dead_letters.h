/*
 * dead_letters.h - events that cannot be stored go to a topic of their own,
 * byte for byte, with headers that say where they came from and why.
 *
 * Headers: topic, partition, offset, reason, and where they have one the
 * event's key and how often it was sent again (tools/dlq/dlq_record.h).
 */
#ifndef COLLECTOR_INGEST_DEAD_LETTERS_H
#define COLLECTOR_INGEST_DEAD_LETTERS_H

#include <stdatomic.h>

#include "common/error.h"
#include "common/kafka/consumer.h"
#include "common/kafka/record.h"
#include "common/log.h"
#include "common/metrics/metrics.h"

#define LETTER_REPLAYS "replays" /* on events sent again, too */
#define LETTER_KEY     "key"

struct dead_letters;

/* Holds up to `queue_bytes` that are on their way.  `lost` counts the letters
 * that are too large for the topic: each is logged, too, and counts as
 * acknowledged, so that it holds up nobody. */
struct dead_letters *dead_letters_new(const struct kafka_config *config,
				      size_t queue_bytes,
				      struct metrics *metrics,
				      struct metric *lost, struct log *log,
				      struct error *err);
void dead_letters_free(struct dead_letters *d); /* NULL accepted */

/*
 * Queues a copy; when that fails it may be tried again.  *given_up, which must
 * outlive `d`, is counted up on another thread should Kafka give the copy up.
 */
int dead_letters_put(struct dead_letters *d, const struct kafka_record *record,
		     const char *reason, atomic_uint *given_up,
		     struct error *err);

/* Waits until Kafka has acknowledged all of them or given up; before that,
 * their offsets must not be committed. */
int dead_letters_flush(struct dead_letters *d, int64_t timeout_ms,
		       struct error *err);

#endif
