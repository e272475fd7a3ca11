/* grant_size.h - when the next grant is asked for, and of how many blocks. */
#ifndef ALLOCATOR_BLOCK_POOL_GRANT_SIZE_H
#define ALLOCATOR_BLOCK_POOL_GRANT_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The next grant is asked for at the last fifth, of codes or of time. */
#define GRANT_AHEAD_DIVISOR 5

struct last_grant {
	size_t blocks;	  /* asked for; 0: there was none */
	int64_t asked_at; /* clock_boottime_ms before the request */
	bool succeeded;
	int64_t renew_at; /* loop time: what was granted ends soon */
};

/*
 * Blocks to ask for at `now` (clock_boottime_ms): twice as many when the last
 * grant lasted less than a second, half when it lasted more than thirty, at
 * least `least` (links.grant_blocks), and beyond that at most 64 and a 1024th
 * of the space's blocks.
 */
size_t grant_size_next(const struct last_grant *last, int64_t now, size_t least,
		       uint64_t space_blocks);

/* Four fifths of the last grant's codes are used, or of its time (`now`: loop
 * time). */
bool grant_is_due(const struct last_grant *last, uint64_t codes_left,
		  uint32_t block_size, int64_t now);

#endif
