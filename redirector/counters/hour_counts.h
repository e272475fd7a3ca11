/*
 * hour_counts.h - counts of events by the hour of the event's own time.
 *
 * The hour is that of the event's time_ms, by which ClickHouse counts, too: a
 * request that is answered just before the turn of the hour, and counted after
 * it, belongs to the earlier hour in both.
 *
 * Each thread has its own writer, which counts in running totals that no other
 * thread changes; a reader (counters_report.h) adds up the totals of all
 * writers.  They are never moved or emptied, so they are right after a kill at
 * any moment: they may lie in a file (counters_file.h).
 */
#ifndef REDIRECTOR_COUNTERS_HOUR_COUNTS_H
#define REDIRECTOR_COUNTERS_HOUR_COUNTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HOUR_MS INT64_C(3600000)

enum hour_counter {
	/* Answers, by the event's outcome. */
	HOUR_REDIRECTED,
	HOUR_NOT_FOUND,
	HOUR_EXPIRED,
	HOUR_BLOCKED,
	HOUR_HEAD,
	HOUR_SILENT, /* answered without an event */
	/* Events: every answer but the silent ones is produced, refused or
	 * withheld; every event that is produced is acknowledged or undelivered
	 * in the end. */
	HOUR_PRODUCED, /* taken, to be sent or spooled */
	HOUR_REFUSED,
	HOUR_ACKNOWLEDGED,
	HOUR_UNDELIVERED,
	HOUR_SPOOLED,  /* part of produced, by any process */
	HOUR_REPLAYED, /* part of acknowledged */
	HOUR_WITHHELD, /* see event_limits.h */
	HOUR_COUNTERS,
};

enum {
	/* More hours than an event can wait for Kafka (7 days); a power of
	 * two. */
	HOUR_TABLE_SIZE = 256,
};

struct hour_counts {
	int64_t hour; /* hours since 1970 */
	uint64_t n[HOUR_COUNTERS];
};

/* The last HOUR_TABLE_SIZE hours, each at its number modulo that size.  A
 * zeroed table is empty. */
struct hour_table {
	struct hour_counts items[HOUR_TABLE_SIZE];
	/* An hour came that was older than the table: its counts are lost. */
	bool inexact;
};

/* Adds to the hour's counts.  Counts of an older hour in the same place are
 * dropped; if that place has a newer hour, nothing is added. */
void hour_table_add(struct hour_table *t, const struct hour_counts *counts);

/* The counts of one hour of one writer, which other threads read meanwhile. */
struct hour_total {
	_Atomic int64_t hour; /* 0: empty, or changing to another hour */
	_Atomic uint64_t n[HOUR_COUNTERS];
};

/* Empty when zeroed.  Lies in files, too: counters_file.c has a version for
 * it. */
struct hour_totals {
	_Atomic int64_t until_ms; /* everything before is counted */
	_Atomic uint64_t inexact;
	struct hour_total items[HOUR_TABLE_SIZE];
};

/* Adds all totals to `to`, and returns until_ms; all that was counted before
 * that is included, and later counts may be.  Callable from any thread. */
int64_t hour_totals_add_to(const struct hour_totals *totals,
			   struct hour_table *to);

/* True if nothing was counted. */
bool hour_totals_are_empty(const struct hour_totals *totals);

struct hour_writer {
	struct hour_totals *totals;
	int64_t begin_ms; /* start of the hour that `at` belongs to */
	_Atomic uint64_t *at;
	_Atomic uint64_t lost[HOUR_COUNTERS]; /* hours that are too old */
	pthread_mutex_t lock; /* for threads that count without turns */
};

/* `totals` must outlive it. */
void hour_writer_init(struct hour_writer *w, struct hour_totals *totals);
void hour_writer_destroy(struct hour_writer *w); /* zeroed: does nothing */

/* Called at the end of a loop's turn: everything before `now_ms` (real time) is
 * counted. */
void hour_writer_flush(struct hour_writer *w, int64_t now_ms);

/* Begins to count for the hour of `time_ms`. */
void hour_writer_move(struct hour_writer *w, int64_t time_ms);

/* Only one thread adds to it, so no locked instruction is needed. */
static inline void hour_total_add(_Atomic uint64_t *n)
{
	atomic_store_explicit(n,
			      atomic_load_explicit(n, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

/* Counts one for the hour of `time_ms` (real time); called on the writer's
 * thread. */
static inline void hour_writer_count(struct hour_writer *w, int64_t time_ms,
				     enum hour_counter which)
{
	if ((uint64_t)time_ms - (uint64_t)w->begin_ms >= (uint64_t)HOUR_MS)
		hour_writer_move(w, time_ms);
	hour_total_add(&w->at[which]);
}

/* The same for threads without turns, which share a writer. */
void hour_writer_count_now(struct hour_writer *w, int64_t hour,
			   enum hour_counter which);

#endif
