/*
 * reader.h - reads stretches of a topic's partitions, outside of any group.
 *
 * For those who look at what Kafka holds rather than take it: nothing is
 * joined, nothing committed.  One stretch at a time.  Not thread-safe.  Records
 * of transactions that were not committed are not seen.  What cannot be read
 * (unreadable.h) is passed over, at exactly its offsets.
 */
#ifndef COMMON_KAFKA_READER_H
#define COMMON_KAFKA_READER_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/kafka/answers.h"
#include "common/kafka/consumer_commit.h"
#include "common/kafka/kafka.h"
#include "common/kafka/record.h"
#include "common/kafka/unreadable.h"

struct kafka_reader;

/* `group`: whose committed offsets kafka_reader_commit tells.  Does not wait
 * for a broker. */
struct kafka_reader *kafka_reader_new(const struct kafka_config *config,
				      const char *client_id, const char *group,
				      struct error *err);
void kafka_reader_free(struct kafka_reader *r); /* NULL accepted */

/* The questions wait for so long. */
#define KAFKA_READER_ASK_MS 15000

/* How many partitions a topic has.  ERROR_NOTFOUND: there is no such topic. */
int kafka_reader_partitions(struct kafka_reader *r, const char *topic,
			    uint32_t *ret_count, struct error *err);

/* The first offset that Kafka still holds, and the one after the last. */
int kafka_reader_bounds(struct kafka_reader *r, const char *topic,
			int32_t partition, int64_t *ret_low, int64_t *ret_high,
			struct error *err);

/* The offset of the first record stored at that time or later; -1: there is
 * none. */
int kafka_reader_at(struct kafka_reader *r, const char *topic,
		    int32_t partition, int64_t real_ms, int64_t *ret_offset,
		    struct error *err);

/* What the brokers say of a topic, within timeout_ms. */
int kafka_reader_limits(struct kafka_reader *r, const char *topic,
			int timeout_ms, struct kafka_topic_limits *ret,
			struct error *err);

/* What the group has committed, offset -1: nothing, and what was written beside
 * it.  Waits for a broker that has just started. */
int kafka_reader_commit(struct kafka_reader *r, const char *topic,
			int32_t partition, struct kafka_committed *ret,
			struct error *err);

/* Begins to read the records from `first` up to, not including, `end`.  A
 * stretch that was begun before is given up. */
int kafka_reader_open(struct kafka_reader *r, const char *topic,
		      int32_t partition, int64_t first, int64_t end,
		      struct error *err);

/*
 * Returns 1 and a record, to be given back with kafka_record_release; 0 at the
 * end of the stretch; -1 when the brokers are silent for a while (retriable),
 * or have dropped what was to be read (ERROR_CONFLICT).
 */
int kafka_reader_next(struct kafka_reader *r, struct kafka_record *ret_record,
		      struct error *err);

/* What kafka_reader_next passes over is told before it returns; none is told of
 * if `fn` is NULL. */
typedef void kafka_reader_unreadable_fn(void *arg, const char *topic,
					int32_t partition,
					const struct kafka_unreadable *what);
void kafka_reader_on_unreadable(struct kafka_reader *r,
				kafka_reader_unreadable_fn *fn, void *arg);

/* Another thread may set *stop, which outlives the reader: what waits for a
 * record then fails soon. */
void kafka_reader_stop_when(struct kafka_reader *r, const atomic_bool *stop);

/*
 * Can the record at `offset`, or the next one there is, be read?  1: it can, or
 * there is none yet; 0: it cannot, and *ret is the rest of its batch from
 * `offset` on; -1: the brokers are silent (retriable).  Gives up a stretch that
 * was begun.
 */
int kafka_reader_probe(struct kafka_reader *r, const char *topic,
		       int32_t partition, int64_t offset,
		       struct kafka_unreadable *ret, struct error *err);

#endif
