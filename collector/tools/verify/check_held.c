/* check_held.c - what Kafka holds, against what is stored of it. */
#include "collector/tools/verify/told.h"
#include "collector/tools/verify/verify.h"
#include "common/kafka/record.h"

#define STEP 8192 /* records between two looks at the bar */

/* A record that was read, and lies behind the window. */
struct pending {
	bool is;
	uint64_t offset;
	int64_t time_ms;
};

/* Some brokers know no time: then all times may be. */
static void stretch_times(const struct span *span, struct stretch *part,
			  int64_t time_ms)
{
	if (time_ms < 0) {
		part->since_ms = span->where.since_ms;
		part->until_ms = span->where.until_ms;
		return;
	}
	if (time_ms < part->since_ms)
		part->since_ms = time_ms;
	if (time_ms >= part->until_ms)
		part->until_ms = time_ms + 1;
}

static void add_time(struct window *w, const struct pending *record)
{
	window_add_time(w, TIMES_OF_KAFKA, (record->offset - w->base) / 64,
			record->time_ms < 0 ? WINDOW_TIME_UNKNOWN
					    : (uint64_t)record->time_ms);
}

/* Fills IN_KAFKA and TIMES_OF_KAFKA from the reader, which stands at the
 * window's start, and finds out when these records came. */
static int read_kafka(struct verify *v, const struct span *span,
		      struct stretch *part, struct pending *next,
		      struct error *err)
{
	struct kafka_record record;
	uint64_t count = 0;
	int status = 1;

	part->since_ms = INT64_MAX;
	part->until_ms = 0;
	for (;;) {
		if (next->is) {
			if (next->offset >= part->end)
				break;
			window_add(&v->window, IN_KAFKA, next->offset);
			add_time(&v->window, next);
			stretch_times(span, part, next->time_ms);
			next->is = false;
		}
		status = kafka_reader_next(v->reader, &record, err);
		if (status <= 0)
			break;
		*next = (struct pending){true, (uint64_t)record.offset,
					 record.time_ms};
		kafka_record_release(&record);
		if (++count % STEP == 0 && verify_step(v, STEP, err) < 0)
			return -1;
	}
	if (part->since_ms > part->until_ms) {
		part->since_ms = span->where.since_ms;
		part->until_ms = span->where.until_ms;
	}
	v->done -= count - count % STEP;
	return status < 0 ? -1 : 0;
}

/* What a block reports of dead letters, beyond those that are still in their
 * topic, accounts for as much of what is LEFT there. */
static void account_block(struct verify *v, struct span *span,
			  const struct told_block *b)
{
	uint64_t left = window_count_in(&v->window, LEFT, b->first, b->last);
	uint64_t there =
		offset_set_count(letters_of(&v->letters, span->where.partition),
				 b->first, b->last);

	if (!left || there + left > b->dead)
		return;
	span->dead_gone += left;
	window_clear_range(&v->window, LEFT, b->first, b->last);
}

static int account_for_dead(struct verify *v, struct span *span,
			    const struct stretch *part, struct error *err)
{
	const struct told_block *blocks;
	uint64_t after = 0;
	size_t count;

	do {
		if (told_blocks(&v->ask, part, after, TOLD_DEAD, &blocks,
				&count, err) < 0)
			return -1;
		for (size_t i = 0; i < count; i++)
			account_block(v, span, &blocks[i]);
		if (count)
			after = blocks[count - 1].first + 1;
	} while (count >= TOLD_PAGE);
	return 0;
}

/* Offsets that an operator had passed over, as was told. */
static int account_for_gaps(struct verify *v, struct span *span,
			    const struct stretch *part, struct error *err)
{
	const struct told_block *blocks;
	uint64_t after = 0;
	size_t count;

	do {
		if (told_blocks(&v->ask, part, after, TOLD_LOST, &blocks,
				&count, err) < 0)
			return -1;
		for (size_t i = 0; i < count; i++)
			window_add_range(&v->window, IN_GAPS, blocks[i].first,
					 blocks[i].last);
		if (count)
			after = blocks[count - 1].first + 1;
	} while (count >= TOLD_PAGE);
	window_keep(&v->window, IN_GAPS, LEFT);
	window_remove(&v->window, LEFT, IN_GAPS);
	return verify_find(v, span, IN_GAPS, FINDING_NOT_READ, &span->missing,
			   err);
}

static int judge_left(struct verify *v, struct span *span,
		      const struct stretch *part, struct error *err)
{
	struct window *w = &v->window;
	uint64_t due = span->due > w->first ? span->due : w->first;

	window_subtract_from(w, IN_KAFKA, 1U << IN_ROWS | 1U << IN_LETTERS);
	if (due < w->end) {
		span->waiting += window_count_in(w, LEFT, due, w->end - 1);
		window_clear_range(w, LEFT, due, w->end - 1);
	}
	if (!window_count(w, LEFT))
		return 0;
	if (account_for_dead(v, span, part, err) < 0 ||
	    account_for_gaps(v, span, part, err) < 0)
		return -1;
	if (v->links && verify_replaced(v, span, err) < 0)
		return -1;
	return verify_find(v, span, LEFT, FINDING_MISSING, &span->missing, err);
}

static int judge(struct verify *v, struct span *span,
		 const struct stretch *part, struct error *err)
{
	struct window *w = &v->window;

	if (verify_read_window(v, span, part, err) < 0)
		return -1;
	span->events += window_count(w, IN_KAFKA);
	span->rows += window_count(w, IN_ROWS);
	span->dead += window_count_both(w, IN_KAFKA, IN_LETTERS);
	window_subtract_from(w, IN_ROWS, 1U << IN_KAFKA);
	if (verify_find(v, span, LEFT, FINDING_UNKNOWN, &span->unknown, err) <
	    0)
		return -1;
	if (!v->links && verify_others(v, span, part, err) < 0)
		return -1;
	return judge_left(v, span, part, err);
}

/* Rows of offsets that Kafka has not given out yet.  It may have meanwhile. */
static int look_beyond(struct verify *v, struct span *span, struct error *err)
{
	struct stretch beyond = span->where;
	struct known rows;
	struct finding f;
	int64_t low, high;

	/* What was stored of a log that was cut is held against reports. */
	if (v->links || !span->newest)
		return 0;
	beyond.first = span->where.end;
	beyond.end = UINT64_MAX;
	if (stored_extent(&v->ask, &beyond, &rows, err) < 0)
		return -1;
	if (!rows.events)
		return 0;
	if (kafka_reader_bounds(v->reader, v->topic, (int32_t)beyond.partition,
				&low, &high, err) < 0)
		return -1;
	if (rows.last < (uint64_t)high)
		return 0;
	/* Of those seen before the end was: what came since is no finding. */
	beyond.first = (uint64_t)high;
	beyond.end = rows.last + 1;
	if (stored_extent(&v->ask, &beyond, &rows, err) < 0)
		return -1;
	if (!rows.events)
		return 0;
	f = (struct finding){FINDING_UNKNOWN, beyond.partition, beyond.epoch,
			     rows.first,      rows.last,	rows.events};
	span->unknown += rows.events;
	return findings_note(&v->findings, &f, err);
}

int verify_held(struct verify *v, struct span *span, struct error *err)
{
	struct stretch part = span->where;
	struct pending next = {0};

	if (kafka_reader_open(v->reader, v->topic, (int32_t)part.partition,
			      (int64_t)part.first, (int64_t)part.end, err) < 0)
		return -1;
	while (part.first < span->where.end) {
		part.end = window_reach(part.first, span->where.end);
		window_begin(&v->window, part.first, part.end);
		if (read_kafka(v, span, &part, &next, err) < 0 ||
		    judge(v, span, &part, err) < 0 ||
		    verify_step(v, part.end - part.first, err) < 0)
			return -1;
		part.first = part.end;
	}
	return look_beyond(v, span, err);
}
