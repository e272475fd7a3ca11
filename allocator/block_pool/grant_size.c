#include "allocator/block_pool/grant_size.h"

enum {
	SHORT_LIVED_MS = 1000, /* a grant used up sooner is too small */
	LONG_LIVED_MS = 30000, /* a grant used up later is too large */
	BLOCKS_MAX = 64,
	SPACE_SHARE = 1024 /* largest part of a space: 1/SPACE_SHARE */
};

/* Grants grow until one lasts a while, so that the next is there in time
 * however fast codes are taken.  They shrink again, so that an idle program
 * holds few blocks.  This is the rule of Leaf (Meituan, 2017). */
size_t grant_size_next(const struct last_grant *last, int64_t now, size_t least,
		       uint64_t space_blocks)
{
	size_t blocks = last->blocks;
	int64_t age = now - last->asked_at;

	if (last->succeeded && age < SHORT_LIVED_MS)
		blocks *= 2;
	else if (last->succeeded && age > LONG_LIVED_MS)
		blocks /= 2;
	if (blocks > BLOCKS_MAX)
		blocks = BLOCKS_MAX;
	if (blocks > space_blocks / SPACE_SHARE)
		blocks = (size_t)(space_blocks / SPACE_SHARE);
	return blocks < least ? least : blocks;
}

bool grant_is_due(const struct last_grant *last, uint64_t codes_left,
		  uint32_t block_size, int64_t now)
{
	uint64_t granted = (uint64_t)last->blocks * block_size;

	return codes_left <= granted / GRANT_AHEAD_DIVISOR ||
	       now >= last->renew_at;
}
