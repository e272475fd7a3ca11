/*
 * hour_counts.h - what is counted by the hour of an event's own time.
 *
 * The hour is that of the time_ms that the event carries, by which ClickHouse
 * counts it too: a request answered a moment before the turn of the hour, whose
 * counts are added up after it, is of the hour before for both.
 *
 * Each thread has a writer of its own.  It counts in numbers that are nobody
 * else's and adds them to a table once per loop turn; whoever tells of them
 * (counters_report.h) takes them from there.
 */
#ifndef REDIRECTOR_HOUR_COUNTS_H
#define REDIRECTOR_HOUR_COUNTS_H

#include <pthread.h>
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

void hour_table_add(struct hour_table *t, const struct hour_counts *counts);

/* NULL: nothing is known of that hour. */
const struct hour_counts *hour_table_find(const struct hour_table *t,
					  int64_t hour);

struct hour_writer {
	int64_t begin_ms; /* of pending's hour */
	struct hour_counts pending;
	bool has_pending;

	pthread_mutex_t lock; /* of what follows */
	struct hour_table table;
	int64_t until_ms; /* all that was counted before is in `table` */
};

void hour_writer_init(struct hour_writer *w);
void hour_writer_destroy(struct hour_writer *w);

/* Adds what is pending to the table. */
void hour_writer_add_pending(struct hour_writer *w);

/* The same at the end of a loop's turn, when it is `now_ms` (real time). */
void hour_writer_flush(struct hour_writer *w, int64_t now_ms);

/* Begins to count for the hour of `time_ms`. */
void hour_writer_move(struct hour_writer *w, int64_t time_ms);

/* Counts one of `time_ms` (real time); on the writer's thread. */
static inline void hour_writer_count(struct hour_writer *w, int64_t time_ms,
				     enum hour_counter which)
{
	if ((uint64_t)time_ms - (uint64_t)w->begin_ms >= (uint64_t)HOUR_MS)
		hour_writer_move(w, time_ms);
	w->pending.n[which]++;
	w->has_pending = true;
}

/* Counts one at once, for threads without turns. */
void hour_writer_count_now(struct hour_writer *w, int64_t hour,
			   enum hour_counter which);

/* Moves what was added to `to`, and returns until_ms.  From any thread. */
int64_t hour_writer_take(struct hour_writer *w, struct hour_table *to);

#endif
