/*
 * consumer.h - reads topics as a member of a consumer group.
 *
 * Belongs to one thread, the one that polls; callbacks run there, inside
 * kafka_consumer_poll and kafka_consumer_close - but on_state, which runs on a
 * thread of its own.  Offsets are committed only when the caller says so.
 * Partitions move one by one when members come and go (cooperative-sticky).
 *
 * What librdkafka fetches ahead is bounded by the options, over all partitions,
 * unless kafka.options say otherwise: it asks for more while it holds less than
 * that, so one answer of each broker can come on top.
 */
#ifndef COMMON_KAFKA_CONSUMER_H
#define COMMON_KAFKA_CONSUMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/kafka/kafka.h"
#include "common/kafka/record.h"
#include "common/kafka/unreadable.h"
#include "common/metrics/metrics.h"

struct kafka_consumer;

/* A partition was given to this member.  Nothing of it is read until it was
 * told where (kafka_consumer_seek) and that (kafka_consumer_pause, false). */
typedef void kafka_assigned_fn(void *arg, const char *topic, int32_t partition);
/* A partition is being taken away.  `lost`: it already has another owner, and
 * nothing may be committed for it any more. */
typedef void kafka_revoked_fn(void *arg, const char *topic, int32_t partition,
			      bool lost);

/* The end of a partition's log was reached: the next record will have `offset`.
 * Told each time, and once after an assignment that brings nothing new. */
typedef void kafka_end_fn(void *arg, const char *topic, int32_t partition,
			  int64_t offset);
/*
 * The answer to one kafka_consumer_commit; err NULL: the brokers took it, and
 * this member had not lost the partition before.  Otherwise err->retriable says
 * that the same commit may be tried again while the partition is held.
 */
typedef void kafka_committed_fn(void *arg, void *opaque,
				const struct error *err);

/*
 * A batch of a partition cannot be read (unreadable.h); `what` has its first
 * offset, and not its last.  Told again with each fetch.  Records that come
 * after it, before a seek, are not to be believed.
 */
typedef void kafka_unreadable_fn(void *arg, const char *topic,
				 int32_t partition,
				 const struct kafka_unreadable *what);

struct kafka_consumer_options {
	const char *client_id;
	const char *group;
	const char *const *topics; /* ended by NULL; at least one */
	kafka_assigned_fn *on_assigned;
	kafka_revoked_fn *on_revoked;
	/* Fetched ahead over all partitions; 0: librdkafka's own. */
	size_t fetch_bytes;
	size_t fetch_events;
	/* Bytes, as they are stored; 0: one batch at a time (answers.h). */
	size_t fetch_answer;
	kafka_end_fn *on_end; /* may be NULL */
	kafka_unreadable_fn *on_unreadable;
	kafka_committed_fn *on_committed; /* may be NULL */
	/* As a producer's; up once the brokers answer and the group has told
	 * this member its partitions. */
	kafka_state_fn *on_state;
	void *arg;
};

/* Does not wait for a broker.  `metrics` may be NULL.  `topics` must outlive
 * it. */
struct kafka_consumer *
kafka_consumer_new(const struct kafka_config *config,
		   const struct kafka_consumer_options *options,
		   struct metrics *metrics, struct error *err);

/*
 * Waits up to timeout_ms for a record.  Returns 1 and the record, to be given
 * back with kafka_record_release; 0 when there is none; -1 for what only an
 * operator can mend (ERROR_CONFIG, ERROR_UNSAFE).  To be called every few
 * minutes at least (max.poll.interval.ms), also while paused.
 */
int kafka_consumer_poll(struct kafka_consumer *c, int timeout_ms,
			struct kafka_record *ret_record, struct error *err);

/*
 * An offset that the brokers do not hold is no error: reading goes on where the
 * log starts, and the caller sees it by the next record's offset.  (librdkafka
 * 2.0 has no way back from auto.offset.reset=error: such a partition takes no
 * seek, and assigning it again can be taken for the answer to a rebalance.)
 */

/*
 * Stops reading a partition, or goes on where it stopped: the next record is
 * the one after the last that was polled.  None comes while it is paused.  What
 * was fetched ahead of it is thrown away, and fetched again then.  A partition
 * is paused when it is assigned.
 */
int kafka_consumer_pause(struct kafka_consumer *c, const char *topic,
			 int32_t partition, bool pause, struct error *err);

/* Records fetched ahead, of all partitions. */
size_t kafka_consumer_fetched(const struct kafka_consumer *c);

/*
 * librdkafka that has fetched its fill looks again only once a second or so
 * (2.0, and 2.2 if not told otherwise) whether there is room, which a fast
 * caller has long made.  Wakes it when half of it is gone.  To be called every
 * few ms; mostly does nothing.
 */
void kafka_consumer_keep_fetching(struct kafka_consumer *c);

/* Reads a partition from `offset` on.  Fails (retriable) for a moment after it
 * was assigned. */
int kafka_consumer_seek(struct kafka_consumer *c, const char *topic,
			int32_t partition, int64_t offset, struct error *err);

/*
 * Leaves the group; on_revoked is called for what is held.  librdkafka would
 * wait for commits under way, for as long as session.timeout.ms or a minute
 * when the brokers are away; after timeout_ms that is given up, and the brokers
 * miss this member by its session.
 */
void kafka_consumer_close(struct kafka_consumer *c, int timeout_ms);
/* Closes it if that was not done before.  One that could not be closed stays
 * with librdkafka's threads until the process ends.  NULL accepted. */
void kafka_consumer_free(struct kafka_consumer *c);

#endif
