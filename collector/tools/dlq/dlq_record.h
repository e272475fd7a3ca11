/*
 * dlq_record.h - the records of the topic of dead letters: letters, and marks
 * that say which of them were sent again.
 *
 * A letter is an event byte for byte, with the headers
 *	topic, partition, offset   where it came from
 *	reason                     why it was not stored
 *	replays                    how often it had been sent again, if it was
 * A mark has no payload, lies in its letter's partition behind it, and has
 *	replayed                   the letter's offset in that partition
 * and topic, partition, offset and replays as of the letter.
 */
#ifndef COLLECTOR_TOOLS_DLQ_DLQ_RECORD_H
#define COLLECTOR_TOOLS_DLQ_DLQ_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/ingest/dead_letters.h"
#include "common/kafka/reader.h"

#define DLQ_REPLAYED "replayed" /* on marks */

enum dlq_record_kind {
	DLQ_LETTER,
	DLQ_MARK,
	DLQ_FOREIGN, /* somebody else's */
};

struct dlq_record {
	enum dlq_record_kind kind;
	/* Its position in the topic of dead letters. */
	int32_t at_partition;
	int64_t at_offset;
	int64_t time_ms; /* when it was put there; -1: not known */
	/* The event's position, which a letter and its mark have in common. */
	const char *topic;
	int32_t partition;
	uint64_t offset;
	const char *reason; /* of a letter */
	const char *key;    /* of the event, or NULL */
	uint64_t replays;
	uint64_t replayed; /* of a mark */
	const void *payload;
	size_t len;
};

/* What *ret_record points to lives as long as `record`. */
void dlq_record_read(const struct kafka_record *record,
		     struct dlq_record *ret_record);

/* -1 and *err ends the walk. */
typedef int dlq_record_fn(void *arg, const struct dlq_record *record,
			  struct error *err);

/*
 * Calls `fn` for each record that the topic `dlq` holds now and got at
 * `since_ms` or later, partition by partition; marks and foreign records
 * included.
 */
int dlq_records_walk(struct kafka_reader *reader, const char *dlq,
		     int64_t since_ms, dlq_record_fn *fn, void *arg,
		     struct error *err);

/* Reads a number of digits and nothing else, as headers have them. */
bool dlq_record_number(const char *text, uint64_t *ret_number);

#endif
