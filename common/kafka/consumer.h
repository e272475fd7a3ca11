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
#include "common/kafka/producer.h"
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

struct kafka_consumer_options {
	const char *client_id;
	const char *group;
	const char *const *topics; /* ended by NULL; at least one */
	kafka_assigned_fn *on_assigned;
	kafka_revoked_fn *on_revoked;
	/* Fetched ahead over all partitions; 0: librdkafka's own. */
	size_t fetch_bytes;
	size_t fetch_events;
	size_t fetch_answer;		  /* bytes, compressed */
	kafka_end_fn *on_end;		  /* may be NULL */
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

struct kafka_record {
	const char *topic;
	int32_t partition;
	int64_t offset;
	/* When Kafka stored it (LogAppendTime), or what the producer said where
	 * the topic is configured so; ms since 1970, -1 unknown. */
	int64_t time_ms;
	const void *key;
	size_t key_len;
	const void *payload;
	size_t len;
	rd_kafka_message_t *message; /* librdkafka's own */
};

/*
 * Waits up to timeout_ms for a record.  Returns 1 and the record, to be given
 * back with kafka_record_release; 0 when there is none; -1 for what only an
 * operator can mend (ERROR_CONFIG, ERROR_UNSAFE).  To be called every few
 * minutes at least (max.poll.interval.ms), also while paused.
 */
int kafka_consumer_poll(struct kafka_consumer *c, int timeout_ms,
			struct kafka_record *ret_record, struct error *err);
void kafka_record_release(struct kafka_record *record);

/*
 * An offset that the brokers do not hold is no error: reading goes on where the
 * log starts, and the caller sees it by the next record's offset.  (librdkafka
 * 2.0 has no way back from auto.offset.reset=error: such a partition takes no
 * seek, and assigning it again can be taken for the answer to a rebalance.)
 */

enum {
	/* offset.metadata.max.bytes of the brokers, as they come */
	KAFKA_METADATA_MAX = 4096
};

/*
 * Asks the brokers to note that everything before `next` is done, with a text
 * of at most KAFKA_METADATA_MAX bytes ("": none).  Queued; on_committed is
 * called once with the answer, by kafka_consumer_serve_commits.  Goes out under
 * the generation that this member has when librdkafka sends it, so it is
 * refused here (ERROR_LATE) once the assignment is lost.  Commit for a
 * partition only after the answer to the last one: librdkafka may send two in
 * another order while it looks for the coordinator.
 */
int kafka_consumer_commit(struct kafka_consumer *c, const char *topic,
			  int32_t partition, int64_t next, const char *metadata,
			  void *opaque, struct error *err);

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

/* Calls on_committed for the answers that are there, waiting up to timeout_ms
 * for the first.  Also inside on_revoked. */
void kafka_consumer_serve_commits(struct kafka_consumer *c, int timeout_ms);

struct kafka_committed {
	int64_t offset; /* -1: none */
	size_t metadata_len;
	char metadata[KAFKA_METADATA_MAX]; /* any bytes */
};

/* What was committed for a partition, by whomever.  From any thread. */
int kafka_consumer_committed(struct kafka_consumer *c, const char *topic,
			     int32_t partition, int timeout_ms,
			     struct kafka_committed *ret, struct error *err);

/* Reads a partition from `offset` on.  Fails (retriable) for a moment after it
 * was assigned. */
int kafka_consumer_seek(struct kafka_consumer *c, const char *topic,
			int32_t partition, int64_t offset, struct error *err);

/*
 * The offset that the next record of a partition will have, as last heard with
 * a fetch; -1 when nothing was heard yet.  Does not ask the brokers.
 */
int64_t kafka_consumer_log_end(struct kafka_consumer *c, const char *topic,
			       int32_t partition);

/* The oldest offset there is, likewise. */
int64_t kafka_consumer_log_start(struct kafka_consumer *c, const char *topic,
				 int32_t partition);

/* Both, asked of the broker that leads the partition.  From any thread. */
int kafka_consumer_ask_log(struct kafka_consumer *c, const char *topic,
			   int32_t partition, int timeout_ms,
			   int64_t *ret_start, int64_t *ret_end,
			   struct error *err);
typedef void kafka_log_end_fn(void *arg, const char *topic, int32_t partition,
			      int64_t end);
/* The ends of all partitions held, asked of their brokers at once; `fn` is
 * called for each that has answered, before this returns. */
int kafka_consumer_ask_ends(struct kafka_consumer *c, int timeout_ms,
			    kafka_log_end_fn *fn, void *arg, struct error *err);
/* The end alone. */
int kafka_consumer_ask_end(struct kafka_consumer *c, const char *topic,
			   int32_t partition, int timeout_ms, int64_t *ret_end,
			   struct error *err);
/* The offset of the first record stored at that time or later; -1: there is
 * none.  From any thread. */
int kafka_consumer_ask_time(struct kafka_consumer *c, const char *topic,
			    int32_t partition, int64_t real_ms, int timeout_ms,
			    int64_t *ret_offset, struct error *err);
/* How many partitions a topic has, by the brokers' metadata. */
int kafka_consumer_ask_partitions(struct kafka_consumer *c, const char *topic,
				  int timeout_ms, uint32_t *ret_count,
				  struct error *err);

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
