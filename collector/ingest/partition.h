/*
 * ingest/partition.h - the partitions a collector holds, each with the block it is
 * filling and the one it is sending.  A partition given back keeps its slot,
 * and with it its metric.  Belongs to the polling thread.
 */
#ifndef COLLECTOR_INGEST_PARTITION_H
#define COLLECTOR_INGEST_PARTITION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/exactly_once/batch.h"
#include "collector/ingest/batch_insert.h"
#include "collector/exactly_once/intent.h"
#include "collector/exactly_once/ranges.h"
#include "collector/exactly_once/sink.h"
#include "common/error.h"
#include "common/metrics/metrics.h"

struct takeover;

/* From left to right, and back to TAKING when what is read does not fit what
 * was known. */
enum slot_state {
	SLOT_AWAY,     /* not held */
	SLOT_TAKING,   /* Kafka and ClickHouse are asked where to go on */
	SLOT_STOPPED,  /* an operator is to say what is right */
	SLOT_CLAIMING, /* that is committed, and with it our generation tried */
	SLOT_SEEKING,  /* the partition is set to its position */
	SLOT_READING,
};

/* Of the block that was named. */
enum slot_step {
	STEP_NONE,
	STEP_NAMING,	/* its intent is being committed */
	STEP_READY,	/* it can be sent */
	STEP_UNDER_WAY, /* a courier has it */
};

struct slot {
	const char *topic; /* the slots' */
	int32_t partition;
	enum sink_table table; /* SINK_CLICKS or SINK_LINKS */
	bool held;
	bool shut;  /* paused: brings no more for now (ingest/backpressure.h), */
	bool hurry; /* and what it brought goes first, to make room */
	enum slot_state state;
	/* Counts assignments and take-overs: what was begun under an earlier
	 * one is dropped when it ends. */
	uint32_t lease;
	bool leaving; /* it is being given back: nothing is begun */
	struct takeover *takeover; /* under way; or NULL */
	int64_t try_at;		   /* monotonic: the next take-over */
	const char *stop_reason;   /* static; NULL: not stopped */

	uint32_t epoch;
	bool placed;	      /* since it was assigned, this is known: */
	uint64_t position;    /* all before it is stored and reported */
	struct intent repeat; /* `named`: the first block is this one */
	struct ranges stored; /* rows that were there at the take-over, */
	int64_t asked_ms;     /* which was then (CLOCK_BOOTTIME) */
	int64_t next_offset;  /* after the last event taken; -1: none yet */
	int64_t log_end;      /* asked while it is paused; 0: not (ingest/lag.h) */
	/* Events from here on were not taken and are to be read again; -1:
	 * none. */
	int64_t reread_from;
	/* Kafka gave up a dead letter of what is held.  Set on the producer's
	 * thread, until all that is held is dropped and read again. */
	atomic_bool dead_letter_failed;

	struct batch batch; /* being filled */
	struct delivery *sent;
	enum slot_step step;
	struct batch spare; /* memory of the last one sent */

	bool answer_awaited; /* a commit is under way, */
	uint32_t answer_lease;
	bool answer_names; /* and says what `sent` is */
	bool commit_due;
	int64_t commit_at; /* monotonic: not before */

	struct metric *lag;
	struct metric *stopped;
};

/* The slots of a topic by their partitions; NULL where there is none. */
struct slots_topic {
	char *name;
	struct slot **items;
	size_t count;
};

struct slots {
	struct slot **items;
	size_t count;
	size_t cap;
	struct slots_topic *topics; /* of each record one is looked up */
	size_t topic_count;
};

/* Start from `struct slots s = {0};`. */
void slots_release(struct slots *s);

/* The slot of a partition, or NULL. */
struct slot *slots_find(const struct slots *s, const char *topic,
			int32_t partition);
/* The same, made when it is not there. */
struct slot *slots_add(struct slots *s, const char *topic, int32_t partition,
		       struct metrics *metrics, struct error *err);

/* Forgets what it holds; a delivery under way becomes its courier's. */
void slot_clear(struct slot *slot);

/* Bytes held in all blocks. */
size_t slots_bytes(const struct slots *s);

#endif
