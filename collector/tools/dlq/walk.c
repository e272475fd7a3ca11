#include "collector/tools/dlq/walk.h"
#include "common/kafka/record.h"

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

static int walk_partition(struct kafka_reader *reader, letter_fn *fn, void *arg,
			  struct error *err)
{
	struct kafka_record record;
	struct letter letter;
	int status;

	while ((status = kafka_reader_next(reader, &record, err)) > 0) {
		letter_read(&record, &letter);
		status = fn(arg, &letter, err);
		kafka_record_release(&record);
		if (status < 0)
			return -1;
	}
	return status;
}

int letters_walk(struct kafka_reader *reader, const char *dlq, int64_t since_ms,
		 letter_fn *fn, void *arg, struct error *err)
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
