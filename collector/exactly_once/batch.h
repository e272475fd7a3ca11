/*
 * batch.h - the rows of one partition that are inserted together: one batch,
 * named by its first and last offset.
 */
#ifndef COLLECTOR_EXACTLY_ONCE_BATCH_H
#define COLLECTOR_EXACTLY_ONCE_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/exactly_once/ranges.h"
#include "common/buf.h"
#include "common/error.h"

/* How far the batch has got; it only goes forward. */
enum batch_stage {
	BATCH_FILLING,
	/* A try to insert it was made: it takes no more rows, so that the next
	 * try is the same bytes under the same token. */
	BATCH_FROZEN,
	BATCH_STORED,	/* its rows are in ClickHouse */
	BATCH_REPORTED, /* and its row in ingest_progress */
};

struct batch_hour {
	uint32_t start; /* seconds since 1970 */
	uint64_t rows;
};

struct batch {
	enum batch_stage stage;
	struct buf rows;
	uint64_t events; /* rows and dead letters; 0: empty */
	uint64_t row_count;
	/* Of these, rows that were in ClickHouse before: they are told of, and
	 * not in `rows`. */
	uint64_t stored_before;
	struct ranges in_hand; /* offsets of the others, whose rows are here */
	uint64_t dead_lettered;
	/* How many letters of its partition Kafka had given up when its first
	 * one was put: if they are more by now, one of its own may be nowhere.
	 */
	unsigned letters_given_up;
	/* Of a gap: offsets that Kafka holds no longer, or that nobody can
	 * read. */
	uint64_t lost;
	uint64_t first; /* offsets, while not empty */
	uint64_t last;
	/* As its token has it: of one that is made again, offsets before
	 * `first` may be gone. */
	uint64_t name_first;
	int64_t started_ms; /* monotonic, when the first event came */
	int64_t append_ms;  /* of the last event */
	int64_t since_ms;   /* of the earliest */
	struct batch_hour *hours;
	size_t hour_count;
	size_t hour_cap;
};

/* Start from `struct batch b = {0};`. */
void batch_release(struct batch *b);
/* Empties it and keeps a little of its memory. */
void batch_reset(struct batch *b);

/* Takes an event in after its row, if it has one, was appended to b->rows; of
 * one that is stored already (`in_hand` is false) it is not to be there. */
int batch_note_row(struct batch *b, uint64_t offset, int64_t append_ms,
		   int64_t ts, bool in_hand, struct error *err);
void batch_note_dead(struct batch *b, uint64_t offset, int64_t append_ms);
/* Takes in what `gap` tells of the offsets from gap->first to gap->last: those
 * that are lost, and rows that are stored.  They count as one event. */
int batch_note_gap(struct batch *b, const struct batch *gap, struct error *err);
/* Counts rows that lie in the hour that starts at `start`. */
int batch_note_hour(struct batch *b, uint32_t start, uint64_t rows,
		    struct error *err);

#define BATCH_NAME_MAX 320
/* What an insert of these offsets is called:
 * "epoch:topic:partition:first-last". `what`: "" of a batch, "gap:" of one that
 * Kafka no longer holds. */
void insert_name(uint32_t epoch, const char *topic, int32_t partition,
		 const char *what, uint64_t first, uint64_t last,
		 char name[BATCH_NAME_MAX]);
/* The batch's, by name_first and last. */
void batch_name(const struct batch *b, uint32_t epoch, const char *topic,
		int32_t partition, char name[BATCH_NAME_MAX]);

/* Of whom a row of ingest_progress tells.  When it was stored is for
 * ClickHouse's clock to say (inserted_at). */
struct progress_origin {
	uint32_t epoch;
	const char *topic;
	int32_t partition;
	uint32_t partitions; /* of the topic */
	const char *collector;
};

/* Appends the batch's row of ingest_progress (RowBinary). */
void batch_progress_row(const struct batch *b,
			const struct progress_origin *origin, struct buf *out);

/* The row of an empty batch: at `at_ms`, by ClickHouse's clock, the collector
 * had inserted all before `offset`, and that was the end of the log. */
void batch_idle_row(int64_t offset, int64_t at_ms,
		    const struct progress_origin *origin, struct buf *out);

#define PROGRESS_COLUMNS                                                       \
	"epoch, topic, partition, partitions, first, last, rows, "             \
	"dead_lettered, lost, hours, append_time, collector"

#endif
