#include "collector/tools/dlq/letter.h"
#include "common/kafka/record.h"

#include <errno.h>
#include <stdlib.h>

bool letter_number(const char *text, uint64_t *ret_number)
{
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret_number = strtoull(text, &end, 10);
	return !errno && !*end;
}

static bool read_source(const struct kafka_record *r, struct letter *letter)
{
	uint64_t partition;

	letter->topic = kafka_record_header(r, "topic");
	if (!letter->topic || !*letter->topic ||
	    !letter_number(kafka_record_header(r, "partition"), &partition) ||
	    !letter_number(kafka_record_header(r, "offset"), &letter->offset))
		return false;
	letter->partition = (int32_t)partition;
	return partition <= INT32_MAX && letter->offset <= INT64_MAX;
}

void letter_read(const struct kafka_record *record, struct letter *ret_letter)
{
	struct letter letter = {
		.kind = LETTER_FOREIGN,
		.at_partition = record->partition,
		.at_offset = record->offset,
		.time_ms = record->time_ms,
		.reason = kafka_record_header(record, "reason"),
		.key = kafka_record_header(record, LETTER_KEY),
		.payload = record->payload,
		.len = record->len,
	};
	const char *replayed = kafka_record_header(record, LETTER_REPLAYED);

	if (read_source(record, &letter)) {
		letter_number(kafka_record_header(record, LETTER_REPLAYS),
			      &letter.replays);
		if (!replayed && letter.reason)
			letter.kind = LETTER_DEAD;
		else if (letter_number(replayed, &letter.replayed))
			letter.kind = LETTER_MARK;
	}
	*ret_letter = letter;
}
