/*
 * stored.h - what ClickHouse holds of a partition: batches reported, rows
 * behind them, and what an operator decided of the topic.
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
 * Makes the server know all that was acknowledged by other replicas of
 * `table`, ingest_progress and ingest_epochs; nothing to do where these are not
 * replicated.  To be called before the questions below, on the same connection.
 */
int stored_sync(struct clickhouse *ch, const char *table, struct error *err);

/* The life that a partition is in. */
struct stored_epoch {
	uint32_t number; /* as configured, or a later one that was decided */
	/* It does not begin at the log's start but at `begin`; events from
	 * `gap` up to that are in no row, and lost. */
	bool resumes;
	uint64_t begin, gap;
};
/* What was said of the life key->epoch. */
int stored_life(struct clickhouse *ch, const struct stored_key *key,
		struct stored_epoch *ret, struct error *err);
/* Uses key->topic and key->partition. */
int stored_epoch(struct clickhouse *ch, const struct stored_key *key,
		 uint32_t configured, struct stored_epoch *ret,
		 struct error *err);

struct stored_report {
	bool any;
	uint64_t next; /* one past the last offset reported */
	/* Rows behind it were stored by Kafka after this (ms); 0: unknown. */
	int64_t since_ms;
	/* The last batch of the last day: its last event, and when Kafka
	 * stored that. */
	bool batch;
	uint64_t batch_last;
	int64_t batch_ms;
};
int stored_report(struct clickhouse *ch, const struct stored_key *key,
		  struct stored_report *ret, struct error *err);

/* Does a report of another partition say that the topic had fewer than with
 * this one?  Then it was added since. */
int stored_added(struct clickhouse *ch, const struct stored_key *key, bool *ret,
		 struct error *err);

/*
 * Adds the offsets from `from` to `last` that have a row.  Of `links`, a row
 * that a newer version has replaced is not seen: inserted again it is replaced
 * again.
 */
int stored_ranges(struct clickhouse *ch, const struct stored_key *key,
		  uint64_t from, uint64_t last, int64_t since_ms,
		  struct ranges *ret, struct error *err);

/* Does ingest_progress report these offsets, in a row of their own whose
 * append_time is not before `since_ms`?  Such a row may count nothing: lines of
 * an import can be neither clicks nor unreadable.  The row of an empty batch is
 * none, since its last offset comes before its first. */
int stored_is_reported(struct clickhouse *ch, const struct stored_key *key,
		       uint64_t first, uint64_t last, int64_t since_ms,
		       bool *ret, struct error *err);

/* Adds the rows of clicks from b->first to b->last to the batch's counts, and
 * moves append_ms to that of the last one. */
int stored_hours(struct clickhouse *ch, const struct stored_key *key,
		 int64_t since_ms, struct batch *b, struct error *err);

/* Events, by their offsets, and when Kafka stored them (ms); ascending. */
struct stored_batches {
	struct stored_event {
		uint64_t last;
		int64_t at_ms;
	} * items;
	size_t count, room;
};
void stored_batches_release(struct stored_batches *b);

/* The last events of all batches reported that end from `from` up to, without,
 * `end`. */
int stored_batches(struct clickhouse *ch, const struct stored_key *key,
		   uint64_t from, uint64_t end, struct stored_batches *ret,
		   struct error *err);

/* The events from `from` up to, without, `end` that have a row in clicks. */
int stored_events(struct clickhouse *ch, const struct stored_key *key,
		  uint64_t from, uint64_t end, struct stored_batches *ret,
		  struct error *err);

/* Has an operator said that it is the topic it was, when `next` was this? */
int stored_same(struct clickhouse *ch, const struct stored_key *key,
		uint64_t next, bool *ret, struct error *err);

#endif
