#include "collector/verify/letters.h"

#include <stdlib.h>
#include <string.h>

#include "collector/dlq/letter.h"

#define PAUSE_EVERY 4096 /* records */

const struct offset_set *letters_of(const struct letters *l, uint32_t partition)
{
	static const struct offset_set none;

	return partition < l->partitions ? &l->sets[partition] : &none;
}

void letters_free(struct letters *l)
{
	for (uint32_t i = 0; i < l->partitions; i++)
		offset_set_free(&l->sets[i]);
	free(l->sets);
	*l = (struct letters){0};
}

static int take(struct letters *l, const struct kafka_record *record,
		const char *topic, struct error *err)
{
	struct letter letter;

	l->read++;
	letter_read(record, &letter);
	if (letter.kind != LETTER_DEAD || strcmp(letter.topic, topic) != 0 ||
	    (uint32_t)letter.partition >= l->partitions)
		return 0;
	return offset_set_add(&l->sets[letter.partition], letter.offset, err) <
			       0
		       ? -1
		       : 0;
}

static int read_partition(struct letters *l, struct kafka_reader *reader,
			  const char *topic, letters_pause_fn *pause, void *arg,
			  struct error *err)
{
	struct kafka_record record;
	int status;

	while ((status = kafka_reader_next(reader, &record, err)) > 0) {
		status = take(l, &record, topic, err);
		kafka_record_release(&record);
		if (status < 0)
			return -1;
		if (l->read % PAUSE_EVERY == 0 && pause(arg))
			return error_set_retriable(err, ERROR_BUSY,
						   "interrupted");
	}
	return status;
}

static int open_partition(struct kafka_reader *reader, const char *dlq,
			  int32_t partition, int64_t since_ms,
			  struct error *err)
{
	int64_t low, high, first;

	if (kafka_reader_bounds(reader, dlq, partition, &low, &high, err) < 0 ||
	    kafka_reader_at(reader, dlq, partition, since_ms, &first, err) < 0)
		return -1;
	if (first < low)
		first = first < 0 ? high : low;
	return kafka_reader_open(reader, dlq, partition, first, high, err);
}

int letters_read(struct letters *l, struct kafka_reader *reader,
		 const char *dlq, const char *topic, uint32_t partitions,
		 int64_t since_ms, letters_pause_fn *pause, void *arg,
		 struct error *err)
{
	struct error why;
	uint32_t count;

	l->sets = calloc(partitions + 1, sizeof(*l->sets));
	if (!l->sets)
		return error_set_nomem(err);
	l->partitions = partitions;
	if (kafka_reader_partitions(reader, dlq, &count, &why) < 0) {
		if (why.code == ERROR_NOTFOUND)
			return 0;
		*err = why;
		return -1;
	}
	for (uint32_t p = 0; p < count; p++)
		if (open_partition(reader, dlq, (int32_t)p, since_ms, err) <
			    0 ||
		    read_partition(l, reader, topic, pause, arg, err) < 0)
			return error_wrap(err, "dead letters");
	return 0;
}
