#include "collector/tools/dlq/dlq_record.h"

#include <errno.h>
#include <stdlib.h>

bool dlq_record_number(const char *text, uint64_t *ret_number)
{
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret_number = strtoull(text, &end, 10);
	return !errno && !*end;
}

static bool read_source(const struct kafka_record *r, struct dlq_record *letter)
{
	uint64_t partition;

	letter->topic = kafka_record_header(r, "topic");
	if (!letter->topic || !*letter->topic ||
	    !dlq_record_number(kafka_record_header(r, "partition"),
			       &partition) ||
	    !dlq_record_number(kafka_record_header(r, "offset"),
			       &letter->offset))
		return false;
	letter->partition = (int32_t)partition;
	return partition <= INT32_MAX && letter->offset <= INT64_MAX;
}

void dlq_record_read(const struct kafka_record *record,
		     struct dlq_record *ret_record)
{
	struct dlq_record letter = {
		.kind = DLQ_FOREIGN,
		.at_partition = record->partition,
		.at_offset = record->offset,
		.time_ms = record->time_ms,
		.reason = kafka_record_header(record, "reason"),
		.key = kafka_record_header(record, LETTER_KEY),
		.payload = record->payload,
		.len = record->len,
	};
	const char *replayed = kafka_record_header(record, DLQ_REPLAYED);

	if (read_source(record, &letter)) {
		dlq_record_number(kafka_record_header(record, LETTER_REPLAYS),
				  &letter.replays);
		if (!replayed && letter.reason)
			letter.kind = DLQ_LETTER;
		else if (dlq_record_number(replayed, &letter.replayed))
			letter.kind = DLQ_MARK;
	}
	*ret_record = letter;
}

/* --- all records ---------------------------------------------------------- */

static int open_partition(struct kafka_reader *reader, const char *dlq,
			  int32_t partition, int64_t since_ms,
			  struct error *err)
{
	int64_t low, high, first;

	if (kafka_reader_bounds(reader, dlq, partition, &low, &high, err) < 0)
		return -1;
	first = low;
	if (since_ms > 0 &&
	    kafka_reader_at(reader, dlq, partition, since_ms, &first, err) < 0)
		return -1;
	if (first < 0)
		first = high;
	return kafka_reader_open(reader, dlq, partition, first, high, err);
}

static int walk_partition(struct kafka_reader *reader, dlq_record_fn *fn,
			  void *arg, struct error *err)
{
	struct kafka_record record;
	struct dlq_record dlq_record;
	int status;

	while ((status = kafka_reader_next(reader, &record, err)) > 0) {
		dlq_record_read(&record, &dlq_record);
		status = fn(arg, &dlq_record, err);
		kafka_record_release(&record);
		if (status < 0)
			return -1;
	}
	return status;
}

int dlq_records_walk(struct kafka_reader *reader, const char *dlq,
		     int64_t since_ms, dlq_record_fn *fn, void *arg,
		     struct error *err)
{
	uint32_t count;

	if (kafka_reader_partitions(reader, dlq, &count, err) < 0)
		return -1;
	for (uint32_t p = 0; p < count; p++)
		if (open_partition(reader, dlq, (int32_t)p, since_ms, err) <
			    0 ||
		    walk_partition(reader, fn, arg, err) < 0)
			return -1;
	return 0;
}
