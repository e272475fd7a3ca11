/*
 * batch.h - the rows of one partition that are inserted together as a batch,
 * which is named by its first and last offset.
 */
#ifndef COLLECTOR_EXACTLY_ONCE_BATCH_H
#define COLLECTOR_EXACTLY_ONCE_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/exactly_once/ranges.h"
#include "common/buf.h"
#include "common/error.h"

/* The stage of the batch; it only goes forward. */
enum batch_stage {
	BATCH_FILLING,
	/* An insert was tried: the batch takes no more rows, so that the next
	 * try sends the same bytes under the same token. */
	BATCH_FROZEN,
	BATCH_STORED,	/* its rows are in ClickHouse */
	BATCH_REPORTED, /* its row is in ingest_progress */
};

struct batch_hour {
	uint32_t start; /* seconds since 1970 */
	uint64_t rows;
};

struct batch {
	enum batch_stage stage;
	struct buf rows;
	/* For links: rows of created_links, also of events whose row is stored
	 * already: their creations may not be. */
	struct buf creations;
	uint64_t events; /* rows and dead letters; 0: empty */
	uint64_t row_count;
	/* The number of these rows that were in ClickHouse before: they are
	 * reported, but are not in `rows`. */
	uint64_t stored_before;
	/* Offsets of the other rows, which are in `rows`. */
	struct ranges in_hand;
	uint64_t dead_lettered;
	/* The number of letters of its partition that Kafka had given up when
	 * the batch's first letter was put.  If the number is higher now, a
	 * letter of this batch may be lost. */
	unsigned letters_given_up;
	/* For a gap: the number of offsets that Kafka no longer holds, or that
	 * are unreadable. */
	uint64_t lost;
	uint64_t first; /* offsets, valid if not empty */
	uint64_t last;
	/* The first offset as in its token: a repeated batch may lack the
	 * offsets before `first`. */
	uint64_t name_first;
	int64_t started_ms; /* monotonic: when its first event arrived */
	int64_t append_ms;  /* append_time of the last event */
	int64_t since_ms;   /* the earliest append_time */
	struct batch_hour *hours;
	size_t hour_count;
	size_t hour_cap;
};

/* Start from `struct batch b = {0};`. */
void batch_release(struct batch *b);
/* Empties it and keeps some of its memory. */
void batch_reset(struct batch *b);

/* Returns the bytes of all its rows. */
size_t batch_bytes(const struct batch *b);

#define BATCH_NO_HOUR INT64_C(-1)

/* Takes an event in after its row, if any, was appended to b->rows.  The row of
 * an event that is stored already (`in_hand` is false) must not be in b->rows.
 * `ts`: ms since 1970, in the hour that counts the row; BATCH_NO_HOUR: none
 * does. */
int batch_note_row(struct batch *b, uint64_t offset, int64_t append_ms,
		   int64_t ts, bool in_hand, struct error *err);
void batch_note_dead(struct batch *b, uint64_t offset, int64_t append_ms);
/* Takes in the lost offsets and the stored rows of `gap`, from gap->first to
 * gap->last.  They count as one event. */
int batch_note_gap(struct batch *b, const struct batch *gap, struct error *err);
/* Adds `rows` to the count of the hour that starts at `start`. */
int batch_note_hour(struct batch *b, uint32_t start, uint64_t rows,
		    struct error *err);

#define BATCH_NAME_MAX 320
/* Writes the name of an insert of these offsets:
 * "epoch:topic:partition:first-last".  `what`: "" for a batch, "gap:" for
 * offsets that Kafka no longer holds. */
void insert_name(uint32_t epoch, const char *topic, int32_t partition,
		 const char *what, uint64_t first, uint64_t last,
		 char name[BATCH_NAME_MAX]);
/* Writes the batch's name, made from name_first and last. */
void batch_name(const struct batch *b, uint32_t epoch, const char *topic,
		int32_t partition, char name[BATCH_NAME_MAX]);

/* The origin of a row of ingest_progress.  ClickHouse's clock sets when the row
 * is stored (inserted_at). */
struct progress_origin {
	uint32_t epoch;
	const char *topic;
	int32_t partition;
	uint32_t partitions; /* number of the topic's partitions */
	bool of_links;	     /* the hours are those of links created */
	const char *collector;
};

/* Appends the batch's row of ingest_progress (RowBinary). */
void batch_progress_row(const struct batch *b,
			const struct progress_origin *origin, struct buf *out);

/* Appends the row of an empty batch: at `at_ms`, by ClickHouse's clock, the
 * collector had inserted all before `offset`, which was the end of the log. */
void batch_idle_row(int64_t offset, int64_t at_ms,
		    const struct progress_origin *origin, struct buf *out);

#define PROGRESS_COLUMNS                                                       \
	"epoch, topic, partition, partitions, first, last, rows, "             \
	"dead_lettered, lost, hours, append_time, collector, creations, "      \
	"link_partitions"

#endif
