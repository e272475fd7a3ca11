#include "collector/exactly_once/batch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/rowbinary.h"
#include "common/clock.h"

enum {
	KEPT_MAX = 64 * 1024 /* per partition, and there may be many */
};

void batch_release(struct batch *b)
{
	buf_free(&b->rows);
	buf_free(&b->creations);
	ranges_release(&b->in_hand);
	free(b->hours);
	*b = (struct batch){0};
}

void batch_reset(struct batch *b)
{
	struct buf rows = b->rows, creations = b->creations;
	struct batch_hour *hours = b->hours;
	size_t cap = b->hour_cap;

	buf_empty(&rows, KEPT_MAX);
	buf_empty(&creations, KEPT_MAX);
	ranges_release(&b->in_hand);
	*b = (struct batch){.rows = rows,
			    .creations = creations,
			    .hours = hours,
			    .hour_cap = cap};
}

size_t batch_bytes(const struct batch *b)
{
	return b->rows.len + b->creations.len;
}

static void note_offset(struct batch *b, uint64_t offset, int64_t append_ms)
{
	if (b->events == 0) {
		b->first = b->name_first = offset;
		b->started_ms = clock_monotonic_ms();
		b->since_ms = append_ms;
	}
	if (append_ms < b->since_ms)
		b->since_ms = append_ms;
	b->last = offset;
	b->append_ms = append_ms;
	b->events++;
}

/* Clicks arrive nearly in order of time: the search begins at the last hour. */
static struct batch_hour *find_hour(struct batch *b, uint32_t start)
{
	for (size_t i = b->hour_count; i > 0; i--)
		if (b->hours[i - 1].start == start)
			return &b->hours[i - 1];
	return NULL;
}

static struct batch_hour *add_hour(struct batch *b, uint32_t start)
{
	size_t cap = b->hour_cap ? b->hour_cap * 2 : 8;
	struct batch_hour *hours;

	if (b->hour_count == b->hour_cap) {
		hours = realloc(b->hours, cap * sizeof(*hours));
		if (!hours)
			return NULL;
		b->hours = hours;
		b->hour_cap = cap;
	}
	b->hours[b->hour_count] = (struct batch_hour){start, 0};
	return &b->hours[b->hour_count++];
}

int batch_note_hour(struct batch *b, uint32_t start, uint64_t rows,
		    struct error *err)
{
	struct batch_hour *hour = find_hour(b, start);

	if (!hour)
		hour = add_hour(b, start);
	if (!hour)
		return error_set_nomem(err);
	hour->rows += rows;
	b->row_count += rows;
	return 0;
}

int batch_note_row(struct batch *b, uint64_t offset, int64_t append_ms,
		   int64_t ts, bool in_hand, struct error *err)
{
	uint32_t start = (uint32_t)(ts / CLOCK_HOUR * 3600);
	bool has_hour = ts != BATCH_NO_HOUR;

	/* Steps that can fail come first. */
	if ((has_hour && batch_note_hour(b, start, 0, err) < 0) ||
	    (in_hand && ranges_note(&b->in_hand, offset, err) < 0))
		return -1;
	if (has_hour)
		batch_note_hour(b, start, 1, err);
	else
		b->row_count++;
	b->stored_before += !in_hand;
	note_offset(b, offset, append_ms);
	return 0;
}

void batch_note_dead(struct batch *b, uint64_t offset, int64_t append_ms)
{
	b->dead_lettered++;
	note_offset(b, offset, append_ms);
}

int batch_note_gap(struct batch *b, const struct batch *gap, struct error *err)
{
	uint64_t in_hours = 0;

	/* Steps that can fail come first. */
	for (size_t i = 0; i < gap->hour_count; i++)
		if (batch_note_hour(b, gap->hours[i].start, 0, err) < 0)
			return -1;
	for (size_t i = 0; i < gap->hour_count; i++) {
		batch_note_hour(b, gap->hours[i].start, gap->hours[i].rows,
				err);
		in_hours += gap->hours[i].rows;
	}
	b->row_count += gap->row_count - in_hours;
	b->stored_before += gap->row_count;
	b->lost += gap->lost;
	note_offset(b, gap->first, gap->append_ms);
	b->last = gap->last;
	return 0;
}

void insert_name(uint32_t epoch, const char *topic, int32_t partition,
		 const char *what, uint64_t first, uint64_t last,
		 char name[BATCH_NAME_MAX])
{
	snprintf(name, BATCH_NAME_MAX,
		 "%" PRIu32 ":%s:%" PRId32 ":%s%" PRIu64 "-%" PRIu64, epoch,
		 topic, partition, what, first, last);
}

void batch_name(const struct batch *b, uint32_t epoch, const char *topic,
		int32_t partition, char name[BATCH_NAME_MAX])
{
	insert_name(epoch, topic, partition, "", b->name_first, b->last, name);
}

static void put_hours(const struct batch *b, bool any, struct buf *out)
{
	size_t count = any ? b->hour_count : 0;

	rowbinary_count(out, count);
	for (size_t i = 0; i < count; i++) {
		rowbinary_u32(out, b->hours[i].start);
		rowbinary_u64(out, b->hours[i].rows);
	}
}

void batch_progress_row(const struct batch *b,
			const struct progress_origin *origin, struct buf *out)
{
	rowbinary_u32(out, origin->epoch);
	rowbinary_string(out, origin->topic, strlen(origin->topic));
	rowbinary_u32(out, (uint32_t)origin->partition);
	rowbinary_u32(out, origin->of_links ? 0 : origin->partitions);
	rowbinary_u64(out, b->first);
	rowbinary_u64(out, b->last);
	rowbinary_u64(out, b->row_count);
	rowbinary_u64(out, b->dead_lettered);
	rowbinary_u64(out, b->lost);
	put_hours(b, !origin->of_links, out);
	rowbinary_i64(out, b->append_ms);
	rowbinary_string(out, origin->collector, strlen(origin->collector));
	put_hours(b, origin->of_links, out);
	rowbinary_u32(out, origin->of_links ? origin->partitions : 0);
}

void batch_idle_row(int64_t offset, int64_t at_ms,
		    const struct progress_origin *origin, struct buf *out)
{
	const struct batch empty = {
		.first = (uint64_t)offset,
		.last = (uint64_t)offset - 1,
		.append_ms = at_ms,
	};

	batch_progress_row(&empty, origin, out);
}
