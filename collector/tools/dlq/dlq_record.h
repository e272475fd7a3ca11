/*
 * dlq_record.h - the records of the topic of dead letters: letters, and marks
 * that show which of them were sent again.
 *
 * A letter is an event byte for byte, with the headers
 *	topic, partition, offset   its origin
 *	reason                     why it was not stored
 *	replays                    how often it had been sent again, if it was
 * A mark has no payload, lies after its letter in the same partition, and has
 *	replayed                   the letter's offset in that partition
 * and the letter's topic, partition, offset and replays.
 */
#ifndef COLLECTOR_TOOLS_DLQ_DLQ_RECORD_H
#define COLLECTOR_TOOLS_DLQ_DLQ_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/dead_letters.h"
#include "common/kafka/reader.h"

#define DLQ_REPLAYED "replayed" /* header of marks */

enum dlq_record_kind {
	DLQ_LETTER,
	DLQ_MARK,
	DLQ_FOREIGN, /* another program's */
};

struct dlq_record {
	enum dlq_record_kind kind;
	/* The record's position in the topic of dead letters. */
	int32_t at_partition;
	int64_t at_offset;
	int64_t time_ms; /* when it was put; -1: not known */
	/* The event's position, which a letter and its mark share. */
	const char *topic;
	int32_t partition;
	uint64_t offset;
	const char *reason; /* for a letter */
	const char *key;    /* the event's, or NULL */
	uint64_t replays;
	uint64_t replayed; /* for a mark */
	const void *payload;
	size_t len;
};

/* The data that *ret_record points to lives as long as `record`. */
void dlq_record_read(const struct kafka_record *record,
		     struct dlq_record *ret_record);

/* Returning -1 with *err filled ends the walk. */
typedef int dlq_record_fn(void *arg, const struct dlq_record *record,
			  struct error *err);

/*
 * Calls `fn` for each record that the topic `dlq` holds now and received at
 * `since_ms` or later, partition by partition; marks and foreign records are
 * included.
 */
int dlq_records_walk(struct kafka_reader *reader, const char *dlq,
		     int64_t since_ms, dlq_record_fn *fn, void *arg,
		     struct error *err);

/* Parses a number that consists only of digits, as in headers. */
bool dlq_record_number(const char *text, uint64_t *ret_number);

#endif
