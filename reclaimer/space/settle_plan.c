#include "reclaimer/space/settle_plan.h"

#include <stdbool.h>

struct plan {
	struct settle_part *parts;
	size_t count;
};

static bool continues(const struct settle_part *last,
		      const struct settle_part *part)
{
	return last->kind == part->kind && last->score == part->score &&
	       last->range.generation == part->range.generation &&
	       last->range.last + 1 == part->range.first;
}

static void add(struct plan *plan, const struct settle_part *part)
{
	struct settle_part *last =
		plan->count ? &plan->parts[plan->count - 1] : NULL;

	if (last && continues(last, part))
		last->range.last = part->range.last;
	else
		plan->parts[plan->count++] = *part;
}

/* The marker may be of a later generation than the range was issued under,
 * when Redis forgot in between: the next one must exceed both. */
static uint32_t next_generation(uint32_t issued, uint32_t marker)
{
	return (marker > issued ? marker : issued) + 1;
}

static struct settle_part part_of(uint64_t block, uint32_t generation,
				  const struct block_look *look)
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
		part.score = look->end;
		break;
	case BLOCK_LOST:
		part.kind = SETTLE_LOST;
		break;
	}
	return part;
}

size_t settle_plan(const struct looked_range *ranges, size_t count,
		   const struct block_look *looks,
		   struct settle_part *ret_parts)
{
	struct plan plan = {ret_parts, 0};
	struct settle_part part;

	for (size_t i = 0; i < count; i++) {
		const struct looked_range *r = &ranges[i];

		for (uint64_t b = r->member.first; b <= r->upto; b++) {
			part = part_of(b, r->member.generation, looks++);
			add(&plan, &part);
		}
		if (r->upto == r->member.last)
			continue;
		part = (struct settle_part){SETTLE_KEEP, r->member, r->score};
		part.range.first = r->upto + 1;
		add(&plan, &part);
	}
	return plan.count;
}
