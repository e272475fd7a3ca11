/* chunk_inside.h - what a chunk is made of.  For chunk.c and settle.c only. */
#ifndef RECLAIMER_SPACE_CHUNK_INSIDE_H
#define RECLAIMER_SPACE_CHUNK_INSIDE_H

#include "linkstore/block/look.h"
#include "reclaimer/space/chunk.h"

struct chunk {
	size_t room;
	struct looked_range *ranges;
	size_t *offsets; /* of each range's first look */
	size_t range_count;
	uint64_t *blocks;
	struct block_look *looks;
	size_t block_count;
	/* Those to be closed: number, place among the looks, what came of it */
	uint64_t *ended;
	size_t *places;
	struct block_look *closed;
	/* Those without a marker: generation, and whether never opened. */
	uint32_t *generations;
	bool *unopened;
	/* What settle is told. */
	struct block_range *members;
	struct settle_part *parts;
};

/* One behind the last look of a range. */
size_t chunk_looks_end(const struct chunk *c, size_t range);

/* Adds what the looks say of ranges `from` to `to` - 1. */
void chunk_count_ranges(const struct chunk *c, size_t from, size_t to,
			const struct reclaim_gaps *gaps, struct tally *tally);

#endif
