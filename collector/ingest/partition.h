/*
 * partition.h - an assigned partition of Kafka: where it stands, the batch it
 * fills, the batch that is being inserted and the commit that is under way.
 * Belongs to the polling thread.
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
 *	                  v  |   what is read does not fit what was recovered
 *	              CLAIMING -> SEEKING -> READING
 *
 * and from each of them REVOKING -> UNASSIGNED.  Only READING takes records;
 * all others keep the partition paused.
 */
enum partition_state {
	PARTITION_UNASSIGNED,
	/* Kafka and ClickHouse are asked where to go on (recovery.h). */
	PARTITION_RECOVERING,
	/* They disagree; `collector epoch` decides. */
	PARTITION_STOPPED,
	/* The recovered position is committed: only the member that owns the
	 * partition in the group's present generation can. */
	PARTITION_CLAIMING,
	PARTITION_SEEKING,
	PARTITION_READING,
	/* Kafka takes it away: nothing is begun, what is under way ends. */
	PARTITION_REVOKING,
};

/* Of the batch that takes no more. */
enum insert_step {
	INSERT_NONE,
	INSERT_COMMITTING_INTENT,
	INSERT_READY,
	INSERT_RUNNING, /* an insert worker has it */
};

struct partition {
	const char *topic; /* the table's (partitions.h) */
	int32_t number;
	enum sink_table table; /* SINK_CLICKS or SINK_LINKS */

	enum partition_state state;
	/* Counts assignments and recoveries: the answer to a question that was
	 * asked under an earlier one is dropped. */
	uint32_t assignment;
	bool paused;
	bool urgent; /* its batch goes first, to make room (backpressure.h) */

	struct {
		struct recovery *job;	 /* under way; or NULL */
		int64_t retry_at;	 /* monotonic */
		const char *stop_reason; /* static; NULL: not stopped */
	} recovery;

	/* As the last recovery left it; `position` moves on with each batch. */
	uint32_t epoch;
	bool position_known;  /* since the partition was assigned */
	uint64_t position;    /* all before it is stored and reported */
	struct intent repeat; /* `has_batch`: the first batch is this one */
	struct ranges stored; /* rows that were there at the recovery */
	int64_t asked_ms;     /* when it asked (CLOCK_BOOTTIME) */

	int64_t next_offset; /* after the last record taken; -1: none yet */
	int64_t append_ms;   /* what comes next was not stored by Kafka before
				this; 0: not known */
	/* Records from here on were not taken and are to be read again; -1:
	 * none. */
	int64_t reread_from;
	int64_t log_end; /* asked while it is paused; 0: not (housekeeping.h) */
	int64_t behind;	 /* events before the log's end; -1: not known */
	/* Dead letters that Kafka gave up, counted on the producer's thread.
	 * Never set back: an insert that is under way when all that is held is
	 * dropped compares it, too (batch.letters_given_up). */
	atomic_uint letters_given_up;

	/* What comes at next_offset cannot be read, or is not to be
	 * (unreadable.h). */
	struct {
		bool on;		      /* nothing is taken */
		bool decided;		      /* `gap` is to be passed over */
		int64_t since, try_at;	      /* monotonic */
		struct unreadable_look *look; /* under way; or NULL */
		struct kafka_unreadable what; /* as last seen */
		struct batch gap;
		/* The next offsets that an operator has named, or PASS_NONE
		 * twice. */
		uint64_t pass_first, pass_last;
	} hold;

	struct batch filling;
	struct {
		struct batch_insert *job; /* or NULL */
		enum insert_step step;
		struct batch spare; /* memory of the last one */
	} insert;
	struct {
		bool awaited; /* one is under way, */
		uint32_t assignment;
		bool has_intent; /* and names insert.job */
		bool due;
		int64_t not_before; /* monotonic */
	} commit;

	struct metric *lag;
	struct metric *stopped;
	struct metric *unreadable;
};

/* NULL: out of memory.  `topic` must outlive it. */
struct partition *partition_new(const char *topic, int32_t number,
				struct metrics *metrics);
/* No recovery may be under way.  NULL accepted. */
void partition_free(struct partition *p);

bool partition_is_assigned(const struct partition *p);

/* The intent that is committed beside the offset now: it names the batch that
 * is inserted, or the one that is to be made again, or none. */
struct intent partition_intent(const struct partition *p);

/* Drops what is held.  An insert under way goes on: its `done` frees it. */
void partition_clear(struct partition *p);

/*
 * Begins a new assignment: drops what is held, so that it is recovered from
 * `at` (monotonic) on.  One that is being revoked stays so.
 */
void partition_restart(struct partition *p, int64_t at);

/* What was held up is read on with, or looked at anew. */
void partition_end_hold(struct partition *p);

/* Finds the next offsets that an operator has named, from `from` on. */
void partition_find_pass(struct partition *p, const struct passes *passes,
			 uint64_t from);

/* Bytes of rows held. */
size_t partition_bytes(const struct partition *p);

#endif
