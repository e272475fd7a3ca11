/*
 * others.c - rows at an offset where Kafka now has another event.
 *
 * A log that was cut (an unclean election, a disk put back) and written again
 * gives offsets that have a row to new events.  Such a row hides that its event
 * is not stored.  When Kafka stored an event tells the two apart: the times of
 * 64 offsets are summed up on both sides, and looked at one by one where the
 * sums differ.
 */
#include "collector/tools/verify/verify.h"
#include "common/kafka/record.h"

/* Words that are looked at one by one; the offsets of more are all taken for
 * others. */
#define NAMED_MAX 1000

static int read_times(struct verify *v, struct span *span, uint64_t first,
		      int64_t ret_ms[64], struct error *err)
{
	struct kafka_record record;
	int status;

	for (int i = 0; i < 64; i++)
		ret_ms[i] = -1;
	if (verify_read_again(v, span, first, first + 63, err) < 0)
		return -1;
	while ((status = kafka_reader_next(v->again, &record, err)) > 0) {
		ret_ms[record.offset % 64] = record.time_ms;
		kafka_record_release(&record);
	}
	return status;
}

static int note(struct verify *v, struct span *span, uint64_t offset,
		struct error *err)
{
	struct finding f = {FINDING_OTHER,
			    span->where.partition,
			    span->where.epoch,
			    offset,
			    offset,
			    1};

	span->missing++;
	return findings_note(&v->findings, &f, err);
}

static int look_at(struct verify *v, struct span *span,
		   const struct stretch *part, uint64_t first,
		   struct error *err)
{
	int64_t kafka[64], rows[64];

	if (stored_times(&v->ask, part, first, rows, err) < 0 ||
	    read_times(v, span, first, kafka, err) < 0)
		return -1;
	for (unsigned i = 0; i < 64; i++) {
		if (rows[i] < 0 || kafka[i] < 0 || rows[i] == kafka[i])
			continue;
		if (note(v, span, first + i, err) < 0)
			return -1;
	}
	return 0;
}

int verify_others(struct verify *v, struct span *span,
		  const struct stretch *part, struct error *err)
{
	struct window *w = &v->window;
	uint64_t at = 0, index, count, named = 0;

	while ((index = window_next_other(w, &at)) != UINT64_MAX) {
		if (named++ < NAMED_MAX) {
			if (look_at(v, span, part, w->base + index * 64, err) <
			    0)
				return -1;
			continue;
		}
		count = (uint64_t)__builtin_popcountll(w->sets[IN_ROWS][index]);
		span->missing += count;
		v->findings.events[FINDING_OTHER] += count;
		v->findings.untold++;
	}
	return 0;
}
