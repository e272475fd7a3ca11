/*
 * letter.h - what the topic of dead letters holds: letters, and marks that say
 * which of them were sent again.
 *
 * A letter is an event byte for byte, with the headers
 *	topic, partition, offset   where it came from
 *	reason                     why it was not stored
 *	replays                    how often it had been sent again, if it was
 * A mark has no payload, lies in its letter's partition behind it, and has
 *	replayed                   the letter's offset in that partition
 * and topic, partition, offset and replays as of the letter.
 */
#ifndef COLLECTOR_TOOLS_DLQ_LETTER_H
#define COLLECTOR_TOOLS_DLQ_LETTER_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/ingest/dead_letters.h"
#include "common/kafka/reader.h"
#include "common/kafka/record.h"

#define LETTER_REPLAYED "replayed" /* on marks */

enum letter_kind {
	LETTER_DEAD,
	LETTER_MARK,
	LETTER_FOREIGN, /* somebody else's */
};

struct letter {
	enum letter_kind kind;
	/* Where it lies. */
	int32_t at_partition;
	int64_t at_offset;
	int64_t time_ms; /* when it was put there; -1: not known */
	/* Where it came from. */
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

/* Reads a record; what is in *ret_letter lives as long as that. */
void letter_read(const struct kafka_record *record, struct letter *ret_letter);

/* Digits and nothing else. */
bool letter_number(const char *text, uint64_t *ret_number);

#endif
