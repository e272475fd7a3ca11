/* grant_size.h - decides when the next grant is requested, and of how many
 * blocks. */
#ifndef ALLOCATOR_BLOCK_POOL_GRANT_SIZE_H
#define ALLOCATOR_BLOCK_POOL_GRANT_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The next grant is requested when a fifth of the codes or of the time is
 * left. */
#define GRANT_AHEAD_DIVISOR 5

struct last_grant {
	size_t blocks;	  /* number requested; 0: no grant yet */
	int64_t asked_at; /* clock_boottime_ms before the request */
	bool succeeded;
	int64_t renew_at; /* loop time when the grant is nearly over */
};

/*
 * Returns how many blocks to request at `now` (clock_boottime_ms): twice as
 * many if the last grant lasted less than a second, half if it lasted more than
 * thirty; at least `least` (links.grant_blocks), and beyond that at most 64 and
 * a 1024th of the space's blocks.
 */
size_t grant_size_next(const struct last_grant *last, int64_t now, size_t least,
		       uint64_t space_blocks);

/* Returns whether four fifths of the last grant's codes or of its time are used
 * (`now`: loop time). */
bool grant_is_due(const struct last_grant *last, uint64_t codes_left,
		  uint32_t block_size, int64_t now);

#endif
