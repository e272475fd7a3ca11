/*
 * progress_rows.h - reports of collectors and settled units, as rows of the
 * tables of a real engine (settled.h).
 */
#ifndef TESTS_UNIT_AGGREGATOR_PROGRESS_ROWS_H
#define TESTS_UNIT_AGGREGATOR_PROGRESS_ROWS_H

#include "tests/unit/aggregator/settled.h"

#include "aggregator/progress.h"

/* An hour of the day that begins at START. */
#define HOUR_OF(n) (START + (n) * (int64_t)HOUR)

/* A block of one hour, of partition 0 of clicks; the time of storing is the
 * hour's start by default. */
struct block {
	int64_t hour; /* seconds */
	uint64_t first, last, rows;
	int64_t stored_ms;
	uint32_t partition, epoch;
};

static inline void store_report(struct settled *t, struct block b)
{
	clickhouse_server_do(
		&t->server,
		"INSERT INTO ingest_progress (epoch, topic, partition, "
		"partitions, first, last, rows, hours, append_time, "
		"inserted_at) SELECT %u, 'clicks', %u, 1, %" PRIu64 ", %" PRIu64
		", %" PRIu64 ", map(toUInt32(%" PRId64 "), toUInt64(%" PRIu64
		")), fromUnixTimestamp64Milli(toInt64(%" PRId64
		"), 'UTC') AS t, t",
		b.epoch, b.partition, b.first, b.last, b.rows, b.hour, b.rows,
		b.stored_ms ? b.stored_ms : b.hour * CLOCK_SECOND);
}

static inline void report_block_at(struct settled *t, int64_t hour,
				   uint64_t first, uint64_t last, uint64_t rows,
				   int64_t stored_ms)
{
	store_report(t, (struct block){.hour = hour,
				       .first = first,
				       .last = last,
				       .rows = rows,
				       .stored_ms = stored_ms});
}

static inline void report_block(struct settled *t, int64_t hour, uint64_t first,
				uint64_t last, uint64_t rows)
{
	report_block_at(t, hour, first, last, rows, 0);
}

/* A row of `settled`. */
struct published {
	const char *kind;
	int64_t unit; /* seconds */
	uint64_t attempt, blocks, rows;
	bool provisional;
	int64_t settled_ms;
};

static inline void publish_attempt(struct settled *t, struct published p)
{
	clickhouse_server_do(
		&t->server,
		"INSERT INTO settled (kind, unit, attempt, blocks, rows, "
		"provisional, settled_at) VALUES ('%s', toDateTime(%" PRId64
		", 'UTC'), %" PRIu64 ", %" PRIu64 ", %" PRIu64
		", %d, fromUnixTimestamp64Milli(toInt64(%" PRId64 "), 'UTC'))",
		p.kind, p.unit, p.attempt, p.blocks, p.rows, p.provisional,
		p.settled_ms);
}

static inline void publish_hour(struct settled *t, int64_t hour,
				uint64_t attempt, uint64_t blocks,
				uint64_t rows)
{
	publish_attempt(t, (struct published){"hour", hour, attempt, blocks,
					      rows, false, 0});
}

/* The base of the day that begins at START has the source up to that offset;
 * the day was dropped under that number. */
static inline void drop_source(struct settled *t, uint64_t attempt,
			       uint32_t partition, uint64_t last)
{
	clickhouse_server_do(&t->server,
			     "INSERT INTO dropped_sources (day, attempt, "
			     "epoch, topic, partition, last) SELECT "
			     "toDate(toDateTime(%" PRId64 ", 'UTC')), %" PRIu64
			     ", 0, 'clicks', %u, %" PRIu64,
			     START, attempt, partition, last);
}

/* Returns the hour or day of the last answer that begins at `start`; or NULL.
 */
static inline const struct stale *find_stale(const struct settled *t,
					     int64_t start)
{
	for (size_t i = 0; i < t->list.count; i++)
		if (t->list.items[i].start == start)
			return &t->list.items[i];
	return NULL;
}

#endif
