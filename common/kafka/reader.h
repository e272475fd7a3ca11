/*
 * reader.h - reads stretches of a topic's partitions, outside of any group.
 *
 * It is for programs that inspect what Kafka holds and do not consume it: it
 * joins no group and commits nothing.  One stretch at a time.  Not thread-safe.
 * Records of uncommitted transactions are not returned.  Batches that cannot be
 * read (unreadable.h) are passed over, at exactly their offsets.
 */
#ifndef COMMON_KAFKA_READER_H
#define COMMON_KAFKA_READER_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/kafka/consumer_commit.h"
#include "common/kafka/kafka.h"
#include "common/kafka/record.h"
#include "common/kafka/topic_limits.h"
#include "common/kafka/unreadable.h"

struct kafka_reader;

/* `group`: kafka_reader_commit returns the offsets that this group has
 * committed.  Does not wait for a broker. */
struct kafka_reader *kafka_reader_new(const struct kafka_config *config,
				      const char *client_id, const char *group,
				      struct error *err);
void kafka_reader_free(struct kafka_reader *r); /* NULL accepted */

/* The timeout of a query. */
#define KAFKA_READER_ASK_MS 15000

/* Returns a topic's number of partitions.  ERROR_NOTFOUND: there is no such
 * topic. */
int kafka_reader_partitions(struct kafka_reader *r, const char *topic,
			    uint32_t *ret_count, struct error *err);

/* Returns the first offset that Kafka still holds, and the one after the
 * last. */
int kafka_reader_bounds(struct kafka_reader *r, const char *topic,
			int32_t partition, int64_t *ret_low, int64_t *ret_high,
			struct error *err);

/* Returns the offset of the first record stored at that time or later; -1:
 * there is none. */
int kafka_reader_at(struct kafka_reader *r, const char *topic,
		    int32_t partition, int64_t real_ms, int64_t *ret_offset,
		    struct error *err);

/* Returns a topic's settings as the brokers report them, within timeout_ms. */
int kafka_reader_limits(struct kafka_reader *r, const char *topic,
			int timeout_ms, struct kafka_topic_limits *ret,
			struct error *err);

/* Returns what the group has committed (offset -1: nothing) and the text beside
 * it.  Waits for a broker that has just started. */
int kafka_reader_commit(struct kafka_reader *r, const char *topic,
			int32_t partition, struct kafka_committed *ret,
			struct error *err);

/* Starts reading the records from `first` up to, not including, `end`.  An
 * earlier stretch is given up. */
int kafka_reader_open(struct kafka_reader *r, const char *topic,
		      int32_t partition, int64_t first, int64_t end,
		      struct error *err);

/*
 * Returns 1 and a record, which the caller gives back with
 * kafka_record_release; 0 at the end of the stretch; -1 if the brokers are
 * silent for a while (retriable), or have dropped the records of the stretch
 * (ERROR_CONFLICT).
 */
int kafka_reader_next(struct kafka_reader *r, struct kafka_record *ret_record,
		      struct error *err);

/* Called for each batch that kafka_reader_next passes over, before that
 * returns.  With `fn` NULL such batches are not reported. */
typedef void kafka_reader_unreadable_fn(void *arg, const char *topic,
					int32_t partition,
					const struct kafka_unreadable *what);
void kafka_reader_on_unreadable(struct kafka_reader *r,
				kafka_reader_unreadable_fn *fn, void *arg);

/* Another thread may set *stop, which outlives the reader: a pending wait for a
 * record then fails soon. */
void kafka_reader_stop_when(struct kafka_reader *r, const atomic_bool *stop);

/*
 * Checks whether the record at `offset`, or the next one there is, can be read.
 * Returns 1 if it can, or if there is none yet; 0 if it cannot, and *ret is the
 * rest of its batch from `offset` on; -1 if the brokers are silent (retriable).
 * An open stretch is given up.
 */
int kafka_reader_probe(struct kafka_reader *r, const char *topic,
		       int32_t partition, int64_t offset,
		       struct kafka_unreadable *ret, struct error *err);

#endif
