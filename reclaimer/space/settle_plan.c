#include "reclaimer/space/settle_plan.h"

#include <stdbool.h>

#include "common/clock.h"
#include "linkstore/block/block_scan.h"

struct plan {
	const struct settle_merge *merge;
	struct settle_part *parts;
	size_t count;
	int64_t earliest; /* earliest end of live blocks in the last part */
};

static int64_t min_time(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * Whether live blocks that end so far apart stay one member.  A block that is
 * due now, or one that never ends, is never joined with another: the limit of
 * an eighth prevents it.
 */
static bool close_enough(const struct settle_merge *merge, int64_t earliest,
			 int64_t latest)
{
	if (earliest == latest)
		return true;
	return latest - earliest <=
	       min_time(merge->apart, (earliest - merge->now) / 8);
}

static bool may_join_last_part(const struct plan *plan,
			       const struct settle_part *last,
			       const struct settle_part *part)
{
	int64_t latest = last->score > part->score ? last->score : part->score;

	if (last->kind != part->kind ||
	    last->range.generation != part->range.generation ||
	    last->range.last + 1 != part->range.first)
		return false;
	return part->kind != SETTLE_KEEP ||
	       close_enough(plan->merge, min_time(plan->earliest, part->score),
			    latest);
}

static void add_or_join_part(struct plan *plan, const struct settle_part *part)
{
	struct settle_part *last =
		plan->count ? &plan->parts[plan->count - 1] : NULL;

	if (!last || !may_join_last_part(plan, last, part)) {
		plan->parts[plan->count++] = *part;
		plan->earliest = part->score;
		return;
	}
	last->range.last = part->range.last;
	if (last->score < part->score)
		last->score = part->score;
	plan->earliest = min_time(plan->earliest, part->score);
}

/* The marker may have a later generation than the range was issued under, if
 * Redis lost data in between: the next generation must exceed both. */
static uint32_t next_generation(uint32_t issued, uint32_t marker)
{
	return (marker > issued ? marker : issued) + 1;
}

/* A block is still live at its exact end, so it becomes due just after it. */
static int64_t look_again_at(const struct block_scan *look)
{
	return look->end == DURATION_NEVER ? DURATION_NEVER : look->end + 1;
}

static struct settle_part part_of(uint64_t block, uint32_t generation,
				  const struct block_scan *look)
{
	struct settle_part part = {.range = {block, block, generation}};

	switch (look->state) {
	case BLOCK_ENDED:
		part.kind = SETTLE_POOL;
		part.range.generation =
			next_generation(generation, look->generation);
		break;
	case BLOCK_LIVE:
		part.kind = SETTLE_KEEP;
		part.score = look_again_at(look);
		break;
	case BLOCK_LOST:
	case BLOCK_UNOPENED: /* it could not be closed */
		part.kind = SETTLE_LOST;
		break;
	}
	return part;
}

size_t settle_plan(const struct scanned_range *ranges, size_t count,
		   const struct block_scan *looks,
		   const struct settle_merge *merge,
		   struct settle_part *ret_parts)
{
	struct plan plan = {.merge = merge, .parts = ret_parts};
	struct settle_part part;

	for (size_t i = 0; i < count; i++) {
		const struct scanned_range *r = &ranges[i];

		for (uint64_t b = r->member.first; b <= r->upto; b++) {
			part = part_of(b, r->member.generation, looks++);
			add_or_join_part(&plan, &part);
		}
		if (r->upto == r->member.last)
			continue;
		part = (struct settle_part){SETTLE_KEEP, r->member, r->score};
		part.range.first = r->upto + 1;
		add_or_join_part(&plan, &part);
	}
	return plan.count;
}
