/*
 * partition.h - an assigned partition of Kafka: its state, the batch it fills,
 * the batch that is being inserted and the commit that is under way.  Belongs
 * to the polling thread.
 */
#ifndef COLLECTOR_INGEST_PARTITION_H
#define COLLECTOR_INGEST_PARTITION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/exactly_once/batch.h"
#include "collector/exactly_once/intent.h"
#include "collector/exactly_once/passes.h"
#include "collector/exactly_once/ranges.h"
#include "collector/exactly_once/sink.h"
#include "common/kafka/unreadable.h"
#include "common/metrics/metrics.h"

struct batch_insert;
struct recovery;
struct unreadable_look;

/*
 *	UNASSIGNED -> RECOVERING <-> STOPPED
 *	                  |  ^
 *	                  v  |   a record does not fit what was recovered
 *	              CLAIMING -> SEEKING -> READING
 *
 * Each of these states can change to REVOKING -> UNASSIGNED.  Only READING
 * takes records; all others keep the partition paused.
 */
enum partition_state {
	PARTITION_UNASSIGNED,
	/* Kafka and ClickHouse are queried for the position (recovery.h). */
	PARTITION_RECOVERING,
	/* Kafka and ClickHouse disagree; `collector epoch` decides. */
	PARTITION_STOPPED,
	/* The recovered position is committed, which only the partition's owner
	 * in the group's present generation can do. */
	PARTITION_CLAIMING,
	PARTITION_SEEKING,
	PARTITION_READING,
	/* Kafka revokes it: no work begins, the work under way ends. */
	PARTITION_REVOKING,
};

/* Steps of the batch that takes no more events. */
enum insert_step {
	INSERT_NONE,
	INSERT_COMMITTING_INTENT,
	INSERT_READY,
	INSERT_RUNNING, /* an insert worker has it */
};

struct partition {
	const char *topic; /* the topic table's copy (partitions.h) */
	int32_t number;
	enum sink_table table; /* SINK_CLICKS or SINK_LINKS */

	enum partition_state state;
	/* Counts assignments and recoveries: an answer to a query from an
	 * earlier one is dropped. */
	uint32_t assignment;
	bool paused;
	bool urgent; /* the batch goes first, to free memory (backpressure.h) */

	struct {
		struct recovery *job;	 /* under way, or NULL */
		int64_t retry_at;	 /* monotonic */
		const char *stop_reason; /* static; NULL: not stopped */
	} recovery;

	/* State after the last recovery; `position` moves on with each
	 * batch. */
	uint32_t epoch;
	bool position_known; /* set since the partition was assigned */
	/* All offsets before it are stored and reported. */
	uint64_t position;
	/* `has_batch`: the first batch must be this one. */
	struct intent repeat;
	struct ranges stored; /* rows that were stored at the recovery */
	/* When the recovery queried it (CLOCK_BOOTTIME). */
	int64_t asked_ms;

	/* Offset after the last record taken; -1: no record yet. */
	int64_t next_offset;
	/* Kafka stored the next records at this time or later; 0: not known. */
	int64_t append_ms;
	/* Records from here on were not taken and must be read again; -1: no
	 * such records. */
	int64_t reread_from;
	/* Queried while it is paused; 0: unknown (housekeeping.h). */
	int64_t log_end;
	int64_t behind; /* events up to the log's end; -1: not known */
	/* Counts dead letters that Kafka gave up, on the producer's thread.  It
	 * is never reset: an insert that is under way while all held events are
	 * dropped compares it, too (batch.letters_given_up). */
	atomic_uint letters_given_up;

	/* The record at next_offset cannot be read, or must not be
	 * (unreadable_offsets.h). */
	struct {
		bool on;		      /* no record is taken */
		bool decided;		      /* `gap` must be passed over */
		int64_t since, try_at;	      /* monotonic */
		struct unreadable_look *look; /* under way, or NULL */
		struct kafka_unreadable what; /* result of the last check */
		struct batch gap;
		/* The next offsets that an operator has named, or PASS_NONE in
		 * both. */
		uint64_t pass_first, pass_last;
	} hold;

	struct batch filling;
	struct {
		struct batch_insert *job; /* or NULL */
		enum insert_step step;
		struct batch spare; /* memory of the last batch */
	} insert;
	struct {
		bool awaited; /* a commit is under way */
		uint32_t assignment;
		bool has_intent; /* the commit names insert.job */
		bool due;
		int64_t not_before; /* monotonic */
	} commit;

	struct metric *lag;
	struct metric *stopped;
	struct metric *unreadable;
};

/* Returns NULL when out of memory.  `topic` must outlive it. */
struct partition *partition_new(const char *topic, int32_t number,
				struct metrics *metrics);
/* No recovery may be under way.  NULL accepted. */
void partition_free(struct partition *p);

bool partition_is_assigned(const struct partition *p);

/* Returns the intent that is committed beside the offset now: it names the
 * batch that is being inserted or must be repeated, or no batch. */
struct intent partition_intent(const struct partition *p);

/* Drops the held events.  An insert under way goes on: its `done` frees it. */
void partition_clear(struct partition *p);

/*
 * Begins a new assignment: drops the held events, so that the partition is
 * recovered at `at` (monotonic) or later.  A partition that is being revoked
 * stays so.
 */
void partition_restart(struct partition *p, int64_t at);

/* Ends the hold: the record that was held up is read, or checked anew. */
void partition_end_hold(struct partition *p);

/* Finds the next offsets that an operator has named, at `from` or later. */
void partition_find_pass(struct partition *p, const struct passes *passes,
			 uint64_t from);

/* Returns the bytes of rows held. */
size_t partition_bytes(const struct partition *p);

#endif
