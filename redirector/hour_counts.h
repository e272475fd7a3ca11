/*
 * hour_counts.h - what is counted by the hour of an event's own time.
 *
 * The hour is that of the time_ms that the event carries, by which ClickHouse
 * counts it too: a request answered a moment before the turn of the hour, whose
 * counts are added up after it, is of the hour before for both.
 *
 * Each thread has a writer of its own, which counts in running totals that
 * nobody else changes; whoever tells of them (counters_report.h) adds up all
 * writers'. They are never moved or emptied, so that a kill at any moment
 * leaves them right: they may lie in a file (counters_file.h).
 */
#ifndef REDIRECTOR_HOUR_COUNTS_H
#define REDIRECTOR_HOUR_COUNTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HOUR_MS INT64_C(3600000)

enum hour_counter {
	/* Answered, by the event's outcome. */
	HOUR_REDIRECTED,
	HOUR_NOT_FOUND,
	HOUR_EXPIRED,
	HOUR_BLOCKED,
	HOUR_HEAD,
	HOUR_SILENT, /* answered without an event */
	/* Events: what is answered, but silently, is produced, refused or
	 * withheld; what is produced is acknowledged or undelivered in the
	 * end. */
	HOUR_PRODUCED, /* taken, to be sent or spooled */
	HOUR_REFUSED,
	HOUR_ACKNOWLEDGED,
	HOUR_UNDELIVERED,
	HOUR_SPOOLED,  /* of those produced, by whichever process */
	HOUR_REPLAYED, /* of those acknowledged */
	HOUR_WITHHELD, /* by event_limits.h */
	HOUR_COUNTERS,
};

enum {
	/* More hours than an event can wait for Kafka (7 days); a power of two.
	 */
	HOUR_TABLE_SIZE = 256,
};

struct hour_counts {
	int64_t hour; /* since 1970 */
	uint64_t n[HOUR_COUNTERS];
};

/* The last HOUR_TABLE_SIZE hours, each at its number modulo that.  Zeroed, it
 * is empty. */
struct hour_table {
	struct hour_counts items[HOUR_TABLE_SIZE];
	/* An hour came that was older than those: its counts are gone. */
	bool inexact;
};

/* Adds to the hour's counts.  Those of an older hour in its place are
 * forgotten, and those of a newer one stay. */
void hour_table_add(struct hour_table *t, const struct hour_counts *counts);

/* NULL: nothing is known of that hour. */
const struct hour_counts *hour_table_find(const struct hour_table *t,
					  int64_t hour);

/* The same of one writer, which others read meanwhile. */
struct hour_total {
	_Atomic int64_t hour; /* 0: empty, or being taken for another hour */
	_Atomic uint64_t n[HOUR_COUNTERS];
};

/* Zeroed, it is empty.  In files: counters_file.c has a version for it. */
struct hour_totals {
	_Atomic int64_t until_ms; /* all before is counted */
	_Atomic uint64_t inexact;
	struct hour_total items[HOUR_TABLE_SIZE];
};

/* Adds all of them to `to`, and returns until_ms; what was counted before that
 * is among them, and more may be.  From any thread. */
int64_t hour_totals_add_to(const struct hour_totals *totals,
			   struct hour_table *to);

/* True where nothing was counted. */
bool hour_totals_are_empty(const struct hour_totals *totals);

struct hour_writer {
	struct hour_totals *totals;
	int64_t begin_ms; /* of the hour that `at` is of */
	_Atomic uint64_t *at;
	_Atomic uint64_t lost[HOUR_COUNTERS]; /* of hours that are too old */
	pthread_mutex_t lock; /* of those who count without turns */
};

/* `totals` must outlive it. */
void hour_writer_init(struct hour_writer *w, struct hour_totals *totals);
void hour_writer_destroy(struct hour_writer *w); /* zeroed: nothing */

/* At the end of a loop's turn, when it is `now_ms` (real time): all before was
 * counted. */
void hour_writer_flush(struct hour_writer *w, int64_t now_ms);

/* Begins to count for the hour of `time_ms`. */
void hour_writer_move(struct hour_writer *w, int64_t time_ms);

/* Nobody else adds to it: no locked instruction is needed. */
static inline void hour_total_add(_Atomic uint64_t *n)
{
	atomic_store_explicit(n,
			      atomic_load_explicit(n, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

/* Counts one of `time_ms` (real time); on the writer's thread. */
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
