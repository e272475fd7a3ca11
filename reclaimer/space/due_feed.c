#include "reclaimer/space/due_feed.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/clock.h"

struct due_feed {
	struct redis *redis;
	const struct link_space *space;
	struct due_cursor cursor;
	bool peek;
	int64_t now; /* 0: no query yet */
	struct due_range *ranges;
	size_t room, count, next;
	/* For due_feed_left: ranges not read yet, and what was read. */
	uint64_t ranges_left, ranges_read, blocks_read;
	uint64_t blocks_here; /* read and not yet taken */
};

struct due_feed *due_feed_new(struct redis *redis,
			      const struct link_space *space,
			      struct due_span span, size_t room, bool peek,
			      struct error *err)
{
	struct due_feed *f = calloc(1, sizeof(*f));

	if (f)
		f->ranges = calloc(room, sizeof(*f->ranges));
	if (!f || !f->ranges) {
		due_feed_free(f);
		error_set_nomem(err);
		return NULL;
	}
	f->redis = redis;
	f->space = space;
	f->cursor = (struct due_cursor){.from = span.from, .until = span.until};
	f->room = room;
	f->peek = peek;
	return f;
}

void due_feed_free(struct due_feed *f)
{
	if (!f)
		return;
	free(f->ranges);
	free(f);
}

int64_t due_feed_now(const struct due_feed *f)
{
	return f->now;
}

uint64_t due_feed_left(const struct due_feed *f)
{
	double each = f->ranges_read
			      ? (double)f->blocks_read / (double)f->ranges_read
			      : 0;

	return f->blocks_here + (uint64_t)((double)f->ranges_left * each);
}

/* --- reading -------------------------------------------------------------- */

/* Fixes what is due in this run, by the first answer. */
static int fix_span(struct due_feed *f, struct error *err)
{
	char begins[RFC3339_TEXT_MAX], now[RFC3339_TEXT_MAX];
	struct due_cursor *c = &f->cursor;

	f->now = c->now;
	if (c->from > c->now)
		return error_set(
			err, ERROR_USAGE,
			"the requested range begins at %s, and it is %s by "
			"Redis' clock: nothing is reclaimed before its time",
			rfc3339_format(c->from, begins),
			rfc3339_format(c->now, now));
	if (c->until == 0 || c->until > c->now)
		c->until = c->now;
	return 0;
}

static int check_range(const struct due_feed *f,
		       const struct block_range *range, struct error *err)
{
	if (range->last < f->space->blocks && range->generation)
		return 0;
	return error_set(err, ERROR_UNSAFE,
			 "the issued set has %" PRIu64 "-%" PRIu64 ":%" PRIu32
			 ", which is no range of space %s: it has %" PRIu64
			 " blocks",
			 range->first, range->last, range->generation,
			 f->space->name, f->space->blocks);
}

static int note_page(struct due_feed *f, size_t count, struct error *err)
{
	uint64_t blocks = 0;

	for (size_t i = f->count; i < f->count + count; i++) {
		if (check_range(f, &f->ranges[i].range, err) < 0)
			return -1;
		blocks += range_blocks(&f->ranges[i].range);
	}
	f->count += count;
	f->ranges_read += count;
	f->blocks_read += blocks;
	f->blocks_here += blocks;
	return 0;
}

/* Settled ranges are no longer due, so reading starts again at the first range.
 * Without settling (peek) it continues behind the last one. */
static void begin_anew(struct due_feed *f)
{
	f->next = f->count = 0;
	f->blocks_here = 0;
	if (f->peek)
		return;
	f->cursor.rank = 0;
	f->cursor.last[0] = '\0';
}

static int refill_due_ranges(struct due_feed *f, struct error *err)
{
	struct due_cursor *c = &f->cursor;
	uint64_t gone;
	size_t count;

	begin_anew(f);
	do {
		if (reclaim_due(f->redis, f->space, c, f->room - f->count,
				f->ranges + f->count, &count, err) < 0 ||
		    (!f->now && fix_span(f, err) < 0) ||
		    note_page(f, count, err) < 0)
			return -1;
	} while (count && f->count < f->room);
	gone = f->peek ? f->ranges_read : f->count;
	f->ranges_left = c->total > gone ? c->total - gone : 0;
	return 0;
}

/* --- taking ranges ------------------------------------------------------- */

static int by_first(const void *a, const void *b)
{
	uint64_t x = ((const struct scanned_range *)a)->member.first;
	uint64_t y = ((const struct scanned_range *)b)->member.first;

	return (x > y) - (x < y);
}

static int check_apart(const struct due_feed *f,
		       const struct scanned_range *ranges, size_t count,
		       struct error *err)
{
	for (size_t i = 1; i < count; i++) {
		if (ranges[i].member.first > ranges[i - 1].member.last)
			continue;
		return error_set(err, ERROR_UNSAFE,
				 "block %" PRIu64 " of space %s is issued "
				 "twice: the accounting is wrong",
				 ranges[i].member.first, f->space->name);
	}
	return 0;
}

/* Takes a range, or the beginning of one; returns the number of blocks. */
static size_t take_one(struct due_feed *f, size_t blocks,
		       struct scanned_range *ret)
{
	struct due_range *due = &f->ranges[f->next];
	uint64_t size = range_blocks(&due->range);
	size_t taken = size < blocks ? (size_t)size : blocks;

	*ret = (struct scanned_range){due->range, due->range.first + taken - 1,
				      due->score};
	if (taken < size)
		due->range.first += taken;
	else
		f->next++;
	f->blocks_here -= taken;
	return taken;
}

int due_feed_take(struct due_feed *f, size_t blocks,
		  struct scanned_range *ret_ranges, size_t *ret_count,
		  struct error *err)
{
	size_t count = 0;

	if (f->next == f->count && refill_due_ranges(f, err) < 0)
		return -1;
	while (blocks && f->next < f->count)
		blocks -= take_one(f, blocks, &ret_ranges[count++]);
	qsort(ret_ranges, count, sizeof(*ret_ranges), by_first);
	if (check_apart(f, ret_ranges, count, err) < 0)
		return -1;
	*ret_count = count;
	return 0;
}
