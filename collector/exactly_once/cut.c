#include "collector/exactly_once/cut.h"
#include "common/kafka/record.h"

#include <stdlib.h>
#include <string.h>

int cut_is_there(const struct cut_log *log, uint64_t offset, int64_t at_ms,
		 bool *ret, struct error *err)
{
	struct kafka_record record;
	int got;

	if (kafka_reader_open(log->reader, log->topic, log->partition,
			      (int64_t)offset, (int64_t)offset + 1, err) < 0)
		return -1;
	got = kafka_reader_next(log->reader, &record, err);
	if (got < 0)
		return -1;
	*ret = !got || record.time_ms == at_ms;
	if (got)
		kafka_record_release(&record);
	return 0;
}

/* The first batch whose last event is not there, or their number. */
static int find_batch(const struct cut_log *log,
		      const struct stored_batches *batches, size_t *ret,
		      struct error *err)
{
	size_t low = 0, high = batches->count, at;
	bool there;

	while (low < high) {
		at = low + (high - low) / 2;
		if (cut_is_there(log, batches->items[at].last,
				 batches->items[at].at_ms, &there, err) < 0)
			return -1;
		if (there)
			low = at + 1;
		else
			high = at;
	}
	*ret = low;
	return 0;
}

/* One past the last event that is there of those in `rows`, ascending; `first`
 * when none is. */
static int find_event(const struct cut_log *log, uint64_t first,
		      const struct stored_batches *rows, uint64_t *ret,
		      struct error *err)
{
	struct kafka_record record;
	size_t i = 0;
	int got;

	*ret = first;
	if (!rows->count)
		return 0;
	if (kafka_reader_open(
		    log->reader, log->topic, log->partition, (int64_t)first,
		    (int64_t)rows->items[rows->count - 1].last + 1, err) < 0)
		return -1;
	while ((got = kafka_reader_next(log->reader, &record, err)) > 0) {
		uint64_t offset = (uint64_t)record.offset;

		while (i < rows->count && rows->items[i].last < offset)
			i++;
		if (i < rows->count && rows->items[i].last == offset &&
		    rows->items[i].at_ms == record.time_ms)
			*ret = offset + 1;
		kafka_record_release(&record);
	}
	return got;
}

/* The first offset from log->start up to log->end that is neither stored nor
 * reported in key->epoch; log->end when all are. */
static int find_in_life(const struct cut_log *log, struct clickhouse *ch,
			const struct stored_key *key, uint64_t *ret,
			struct error *err)
{
	struct stored_batches batches = {0}, rows = {0};
	uint64_t first = log->start, end = log->end;
	int status = -1;
	size_t at;

	if (stored_batches(ch, key, log->start, log->end, &batches, err) < 0 ||
	    find_batch(log, &batches, &at, err) < 0)
		goto out;
	if (at)
		first = batches.items[at - 1].last + 1;
	if (at < batches.count)
		end = batches.items[at].last + 1;
	*ret = first;
	if (strcmp(key->table, "links") == 0)
		status = 0;
	else if (stored_events(ch, key, first, end, &rows, err) == 0)
		status = find_event(log, first, &rows, ret, err);
out:
	stored_batches_release(&batches);
	stored_batches_release(&rows);
	return status;
}

/*
 * When nothing of a life that began within the log is there, the log may have
 * been cut before that: then the life before is looked at, up to where the
 * later one began.
 */
int cut_find(const struct cut_log *log, struct clickhouse *ch,
	     const struct stored_key *key, uint64_t *ret, struct error *err)
{
	struct stored_key life = *key;
	struct cut_log part = *log;
	struct stored_epoch said;
	uint64_t later = log->end; /* where the later life began */

	for (;; life.epoch--) {
		if (stored_life(ch, &life, &said, err) < 0)
			return -1;
		part.start = log->start;
		if (said.begin > part.start)
			part.start = said.begin;
		*ret = part.start;
		if (part.start < part.end &&
		    find_in_life(&part, ch, &life, ret, err) < 0)
			return -1;
		if (*ret >= part.end)
			*ret = later;
		if (*ret > part.start || !said.resumes || !life.epoch ||
		    said.begin <= log->start)
			break;
		if (said.gap < part.end)
			part.end = said.gap;
		later = said.begin <= log->end ? said.begin : part.end;
	}
	return 0;
}
