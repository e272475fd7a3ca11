/*
 * stored.h - what ClickHouse holds of a partition: blocks reported, rows behind
 * them, and what an operator decided of the topic.
 */
#ifndef COLLECTOR_ONCE_STORED_H
#define COLLECTOR_ONCE_STORED_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/batch.h"
#include "collector/once/ranges.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/*
 * Of ingest_progress: one past the last offset reported.  A partition reported
 * empty to its end has none, and last = first - 1, which is 2^64 - 1 at the
 * start of a log: ClickHouse makes max(last) + 1, which is 0, of max(last + 1).
 */
#define STORED_NEXT "max(if(rows + dead_lettered + lost > 0, last + 1, first))"

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

/* The topic's epoch: `configured`, or a later one that was decided. */
int stored_epoch(struct clickhouse *ch, const char *topic, uint32_t configured,
		 uint32_t *ret, struct error *err);

struct stored_report {
	bool any;
	uint64_t next; /* one past the last offset reported */
	/* Rows behind it were stored by Kafka after this (ms); 0: unknown. */
	int64_t since_ms;
};
int stored_report(struct clickhouse *ch, const struct stored_key *key,
		  struct stored_report *ret, struct error *err);

/*
 * Adds the offsets from `from` on that have a row.  Of `links`, a row that a
 * newer version has replaced is not seen: inserted again it is replaced again.
 */
int stored_ranges(struct clickhouse *ch, const struct stored_key *key,
		  uint64_t from, int64_t since_ms, struct ranges *ret,
		  struct error *err);

/* Adds the rows of clicks from b->first to b->last to the block's counts, and
 * moves append_ms to that of the last one. */
int stored_hours(struct clickhouse *ch, const struct stored_key *key,
		 int64_t since_ms, struct batch *b, struct error *err);

/* Has an operator said that it is the topic it was, when `next` was this? */
int stored_same(struct clickhouse *ch, const struct stored_key *key,
		uint64_t next, bool *ret, struct error *err);

#endif
