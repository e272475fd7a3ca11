#include "reclaimer/space/due_feed.h"

#include <inttypes.h>
#include <stdlib.h>

struct due_feed {
	struct redis *redis;
	const struct link_space *space;
	bool peek;
	int64_t until; /* 0: nothing asked for yet */
	size_t skip;   /* with `peek`: ranges taken so far */
	struct due_range *ranges;
	size_t room, count, next;
};

struct due_feed *due_feed_new(struct redis *redis,
			      const struct link_space *space, size_t room,
			      bool peek, struct error *err)
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

int64_t due_feed_until(const struct due_feed *f)
{
	return f->until;
}

/* What was settled is due no more, so the rest starts at 0 again. */
static int refill(struct due_feed *f, struct error *err)
{
	f->skip += f->peek ? f->count : 0;
	f->next = f->count = 0;
	return reclaim_due(f->redis, f->space, f->until, f->skip, f->room,
			   f->ranges, &f->count, &f->until, err);
}

static int by_first(const void *a, const void *b)
{
	uint64_t x = ((const struct looked_range *)a)->member.first;
	uint64_t y = ((const struct looked_range *)b)->member.first;

	return (x > y) - (x < y);
}

static int check_apart(const struct due_feed *f,
		       const struct looked_range *ranges, size_t count,
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

/* Takes a range, or its beginning; returns the number of blocks. */
static size_t take_one(struct due_feed *f, size_t blocks,
		       struct looked_range *ret)
{
	struct due_range *due = &f->ranges[f->next];
	uint64_t size = range_blocks(&due->range);
	size_t taken = size < blocks ? (size_t)size : blocks;

	*ret = (struct looked_range){due->range, due->range.first + taken - 1,
				     due->score};
	if (taken < size)
		due->range.first += taken;
	else
		f->next++;
	return taken;
}

int due_feed_take(struct due_feed *f, size_t blocks,
		  struct looked_range *ret_ranges, size_t *ret_count,
		  struct error *err)
{
	size_t count = 0;

	if (f->next == f->count && refill(f, err) < 0)
		return -1;
	while (blocks && f->next < f->count)
		blocks -= take_one(f, blocks, &ret_ranges[count++]);
	qsort(ret_ranges, count, sizeof(*ret_ranges), by_first);
	if (check_apart(f, ret_ranges, count, err) < 0)
		return -1;
	*ret_count = count;
	return 0;
}
