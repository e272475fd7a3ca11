/*
 * settle_plan.h - what becomes of ranges whose blocks were scanned.
 *
 * Pure.  Ended blocks go to the pool under the next generation, live ones stay
 * issued until they end, lost ones stay issued until somebody repairs them.
 *
 * Live neighbours that end soon after one another stay one member, scanned
 * when the last of them ends.  With a member each, as exactness would have it,
 * a space whose links are visited all the time would soon have as many members
 * as blocks. `apart` bounds how late that makes a block, and so does an eighth
 * of what it has left.
 */
#ifndef RECLAIMER_SPACE_SETTLE_PLAN_H
#define RECLAIMER_SPACE_SETTLE_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "linkstore/block/block_scan.h"
#include "linkstore/range.h"
#include "linkstore/space/reclaim.h"

/* A member of the issued set, and how far it has been scanned. */
struct scanned_range {
	struct block_range member; /* exactly as issued */
	uint64_t upto;		   /* last block scanned, in the member */
	int64_t score;		   /* the member's; what is left keeps it */
};

static inline size_t scanned_blocks(const struct scanned_range *range)
{
	return (size_t)(range->upto - range->member.first + 1);
}

/* Room that the plan for that much can need. */
static inline size_t settle_plan_room(size_t ranges, size_t blocks)
{
	return ranges + blocks;
}

/* How far apart live neighbours may end to stay one member. */
struct settle_merge {
	int64_t now;   /* ms */
	int64_t apart; /* ms */
};

/*
 * Writes the parts that the members fall into, in their order, and returns how
 * many there are: they cover the same blocks, and neighbours that are alike
 * are one part.  `looks` holds one per block scanned, range after range.
 */
size_t settle_plan(const struct scanned_range *ranges, size_t count,
		   const struct block_scan *looks,
		   const struct settle_merge *merge,
		   struct settle_part *ret_parts);

#endif
