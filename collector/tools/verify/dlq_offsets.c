#include "collector/tools/verify/dlq_offsets.h"

#include <stdlib.h>
#include <string.h>

#include "collector/tools/dlq/dlq_record.h"

#define PAUSE_EVERY 4096 /* records between two checks for a stop */

struct dlq_reading {
	struct dlq_offsets *offsets;
	const char *topic;
	dlq_offsets_pause_fn *pause;
	void *arg;
};

const struct offset_set *dlq_offsets_of(const struct dlq_offsets *d,
					uint32_t partition)
{
	static const struct offset_set none;

	return partition < d->partitions ? &d->sets[partition] : &none;
}

void dlq_offsets_free(struct dlq_offsets *d)
{
	for (uint32_t i = 0; i < d->partitions; i++)
		offset_set_free(&d->sets[i]);
	free(d->sets);
	*d = (struct dlq_offsets){0};
}

static int take_letter_offset(void *arg, const struct dlq_record *record,
			      struct error *err)
{
	struct dlq_reading *r = arg;
	struct dlq_offsets *d = r->offsets;

	if (++d->read % PAUSE_EVERY == 0 && r->pause(r->arg))
		return error_set_retriable(err, ERROR_STOPPED, "interrupted");
	if (record->kind != DLQ_LETTER ||
	    strcmp(record->topic, r->topic) != 0 ||
	    (uint32_t)record->partition >= d->partitions)
		return 0;
	return offset_set_add(&d->sets[record->partition], record->offset,
			      err) < 0
		       ? -1
		       : 0;
}

int dlq_offsets_read(struct dlq_offsets *d, struct kafka_reader *reader,
		     const char *dlq, const char *topic, uint32_t partitions,
		     int64_t since_ms, dlq_offsets_pause_fn *pause, void *arg,
		     struct error *err)
{
	struct dlq_reading reading = {d, topic, pause, arg};
	struct error why;

	d->sets = calloc(partitions + 1, sizeof(*d->sets));
	if (!d->sets)
		return error_set_nomem(err);
	d->partitions = partitions;
	if (dlq_records_walk(reader, dlq, since_ms, take_letter_offset,
			     &reading, &why) == 0 ||
	    why.code == ERROR_NOTFOUND)
		return 0;
	*err = why;
	return error_wrap(err, "dead letters");
}
