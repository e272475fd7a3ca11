/*
 * stored.h - what ClickHouse holds of a partition: reports of batches, rows
 * after them, and an operator's decisions about the topic.
 */
#ifndef COLLECTOR_EXACTLY_ONCE_STORED_H
#define COLLECTOR_EXACTLY_ONCE_STORED_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/exactly_once/batch.h"
#include "collector/exactly_once/ranges.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct stored_key {
	const char *table; /* "clicks" or "links" */
	const char *topic;
	int32_t partition;
	uint32_t epoch;
};

/*
 * Makes the server load all that other replicas of `table`, ingest_progress and
 * ingest_epochs have acknowledged; does nothing for tables that are not
 * replicated.  Call it before the queries below, on the same connection.
 */
int stored_sync(struct clickhouse *ch, const char *table, struct error *err);

/* The present epoch of a partition. */
struct stored_epoch {
	uint32_t number; /* the configured one, or a later one by decision */
	/* The epoch begins at `begin` and not at the log's start; events from
	 * `gap` up to `begin` are in no row, and lost. */
	bool resumes;
	uint64_t begin, gap;
};
/* Queries the decision for the epoch key->epoch. */
int stored_life(struct clickhouse *ch, const struct stored_key *key,
		struct stored_epoch *ret, struct error *err);
/* Uses key->topic and key->partition. */
int stored_epoch(struct clickhouse *ch, const struct stored_key *key,
		 uint32_t configured, struct stored_epoch *ret,
		 struct error *err);

struct stored_report {
	bool any;
	uint64_t next; /* one past the last offset reported */
	/* Kafka stored the rows from `next` on after this (ms); 0: unknown. */
	int64_t since_ms;
	/* The last batch of the last day: its last event, and when Kafka stored
	 * it. */
	bool batch;
	uint64_t batch_last;
	int64_t batch_ms;
};
int stored_report(struct clickhouse *ch, const struct stored_key *key,
		  struct stored_report *ret, struct error *err);

/* Queries whether a report of another partition shows that the topic had fewer
 * partitions than with this one: then the partition was added later. */
int stored_added(struct clickhouse *ch, const struct stored_key *key, bool *ret,
		 struct error *err);

/*
 * Adds the offsets from `from` to `last` that have a row.  In `links`, rows
 * that a newer version has replaced are not found: a row that is inserted again
 * is replaced again.
 */
int stored_ranges(struct clickhouse *ch, const struct stored_key *key,
		  uint64_t from, uint64_t last, int64_t since_ms,
		  struct ranges *ret, struct error *err);

/* Queries whether ingest_progress reports exactly these offsets in a row whose
 * append_time is not before `since_ms`.  Such a row may have counts of 0: lines
 * of an import can be neither clicks nor unreadable.  The row of an empty batch
 * never matches, since its last offset is before its first. */
int stored_is_reported(struct clickhouse *ch, const struct stored_key *key,
		       uint64_t first, uint64_t last, int64_t since_ms,
		       bool *ret, struct error *err);

/* Adds the rows of clicks from b->first to b->last to the batch's counts, and
 * sets append_ms to that of the last row. */
int stored_hours(struct clickhouse *ch, const struct stored_key *key,
		 int64_t since_ms, struct batch *b, struct error *err);

/* Events with their offsets and the times (ms) when Kafka stored them;
 * ascending. */
struct stored_batches {
	struct stored_event {
		uint64_t last;
		int64_t at_ms;
	} * items;
	size_t count, room;
};
void stored_batches_release(struct stored_batches *b);

/* Finds the last events of all reported batches that end in [from, end). */
int stored_batches(struct clickhouse *ch, const struct stored_key *key,
		   uint64_t from, uint64_t end, struct stored_batches *ret,
		   struct error *err);

/* Finds the events in [from, end) that have a row in clicks. */
int stored_events(struct clickhouse *ch, const struct stored_key *key,
		  uint64_t from, uint64_t end, struct stored_batches *ret,
		  struct error *err);

/* Adds to the batch, with no rows, the hours in which links of its events may
 * have been created: those of all rows of links from b->first to b->last. */
int stored_creations(struct clickhouse *ch, const struct stored_key *key,
		     struct batch *b, struct error *err);

/* Queries whether an operator decided that the topic is the same, when `next`
 * was this. */
int stored_same(struct clickhouse *ch, const struct stored_key *key,
		uint64_t next, bool *ret, struct error *err);

#endif
