/*
 * consumer.h - reads topics as a member of a consumer group.
 *
 * A consumer belongs to the thread that polls it; callbacks run on that thread,
 * inside kafka_consumer_poll and kafka_consumer_close.  Only on_state runs on a
 * thread of the consumer's own as well.  Offsets are committed only when the
 * caller says so.  Partitions move one by one when members come and go
 * (cooperative-sticky).
 *
 * The options bound what librdkafka fetches ahead, over all partitions, unless
 * kafka.options say otherwise: librdkafka requests more while it holds less
 * than the bound, so one response of each broker can exceed it.
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

/* A partition was assigned to this member.  No record is read until the caller
 * has set an offset (kafka_consumer_seek) and resumed it (kafka_consumer_pause,
 * false). */
typedef void kafka_assigned_fn(void *arg, const char *topic, int32_t partition);
/* A partition is being revoked.  `lost`: it already has another owner, and
 * nothing may be committed for it any more. */
typedef void kafka_revoked_fn(void *arg, const char *topic, int32_t partition,
			      bool lost);

/* The end of a partition's log was reached: the next record will have `offset`.
 * Called each time, and once after an assignment that brings no new record. */
typedef void kafka_end_fn(void *arg, const char *topic, int32_t partition,
			  int64_t offset);
/*
 * The answer to one kafka_consumer_commit.  If err is NULL, the brokers
 * accepted the commit before this member lost the partition.  Otherwise
 * err->retriable says that the same commit may be tried again while the
 * partition is held.
 */
typedef void kafka_committed_fn(void *arg, void *opaque,
				const struct error *err);

/*
 * A batch of a partition cannot be read (unreadable.h); `what` has its first
 * offset, and not its last.  Called again with each fetch.  Records that come
 * after the batch, before a seek, are not to be trusted.
 */
typedef void kafka_unreadable_fn(void *arg, const char *topic,
				 int32_t partition,
				 const struct kafka_unreadable *what);

struct kafka_consumer_options {
	const char *client_id;
	const char *group;
	const char *const *topics; /* NULL-terminated; at least one */
	kafka_assigned_fn *on_assigned;
	kafka_revoked_fn *on_revoked;
	/* The amount fetched ahead, over all partitions; 0: librdkafka's
	 * default. */
	size_t fetch_bytes;
	size_t fetch_events;
	/* The size of a fetch response, in bytes as stored; 0: one batch at a
	 * time (topic_limits.h). */
	size_t fetch_answer;
	kafka_end_fn *on_end; /* may be NULL */
	kafka_unreadable_fn *on_unreadable;
	kafka_committed_fn *on_committed; /* may be NULL */
	/* Like a producer's; up once the brokers answer and the group has
	 * assigned partitions to this member. */
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
 * Waits up to timeout_ms for a record.  Returns 1 and the record, which the
 * caller gives back with kafka_record_release; 0 if there is none; -1 for an
 * error that only an operator can repair (ERROR_CONFIG, ERROR_UNSAFE).  The
 * caller calls it at least every few minutes (max.poll.interval.ms), also while
 * paused.
 */
int kafka_consumer_poll(struct kafka_consumer *c, int timeout_ms,
			struct kafka_record *ret_record, struct error *err);

/*
 * An offset that the brokers do not hold is no error: reading continues where
 * the log starts, and the caller sees that from the next record's offset.
 * (librdkafka 2.0 cannot recover from auto.offset.reset=error: such a partition
 * accepts no seek, and assigning it again can be mistaken for the answer to a
 * rebalance.)
 */

/*
 * Pauses a partition, or resumes it where it stopped: the next record is the
 * one after the last that was polled.  No record comes while it is paused.
 * Records fetched ahead are thrown away, and fetched again on resume.  A
 * partition is paused when it is assigned.
 */
int kafka_consumer_pause(struct kafka_consumer *c, const char *topic,
			 int32_t partition, bool pause, struct error *err);

/* Records fetched ahead, of all partitions. */
size_t kafka_consumer_fetched(const struct kafka_consumer *c);

/*
 * When librdkafka has fetched its fill, it checks only about once a second
 * (2.0, and 2.2 by default) whether there is room again, which is too rare for
 * a fast caller.  This wakes it when half of the records are consumed.  Call it
 * every few ms; it mostly does nothing.
 */
void kafka_consumer_keep_fetching(struct kafka_consumer *c);

/* Reads a partition from `offset` on.  Fails (retriable) for a moment after it
 * was assigned. */
int kafka_consumer_seek(struct kafka_consumer *c, const char *topic,
			int32_t partition, int64_t offset, struct error *err);

/*
 * Leaves the group; on_revoked is called for each partition held.  librdkafka
 * would wait for pending commits, up to session.timeout.ms or a minute while
 * the brokers are away; this gives up after timeout_ms, and the brokers then
 * remove this member when its session expires.
 */
void kafka_consumer_close(struct kafka_consumer *c, int timeout_ms);
/* Closes the consumer first if that was not done before.  A consumer that could
 * not be closed stays, with librdkafka's threads, until the process ends.  NULL
 * accepted. */
void kafka_consumer_free(struct kafka_consumer *c);

#endif
