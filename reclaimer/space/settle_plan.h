/*
 * settle_plan.h - decides how ranges with scanned blocks are settled.
 *
 * Pure.  Ended blocks go to the pool under the next generation, live blocks
 * stay issued until they end, lost blocks stay issued until they are repaired.
 *
 * Live neighbours that end soon after one another stay one member, which is
 * scanned when the last of them ends.  With one member for each, which would be
 * exact, a space whose links are visited all the time would soon have as many
 * members as blocks.  A block is delayed by that for at most `apart`, and at
 * most an eighth of its remaining time.
 */
#ifndef RECLAIMER_SPACE_SETTLE_PLAN_H
#define RECLAIMER_SPACE_SETTLE_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "linkstore/block/block_scan.h"
#include "linkstore/range.h"
#include "linkstore/space/reclaim.h"

/* A member of the issued set, and how far it is scanned. */
struct scanned_range {
	struct block_range member; /* exactly as issued */
	uint64_t upto;		   /* last block scanned, in the member */
	int64_t score; /* the member's score; unscanned blocks keep it */
};

static inline size_t scanned_blocks(const struct scanned_range *range)
{
	return (size_t)(range->upto - range->member.first + 1);
}

/* Most parts that the plan for this input can have. */
static inline size_t settle_plan_room(size_t ranges, size_t blocks)
{
	return ranges + blocks;
}

/* Limits for live neighbours to stay one member. */
struct settle_merge {
	int64_t now;   /* ms */
	int64_t apart; /* ms */
};

/*
 * Writes the parts of the members, in their order, and returns their number.
 * The parts cover the same blocks, and equal neighbours are one part.  `looks`
 * has one item for each scanned block, range after range.
 */
size_t settle_plan(const struct scanned_range *ranges, size_t count,
		   const struct block_scan *looks,
		   const struct settle_merge *merge,
		   struct settle_part *ret_parts);

#endif
