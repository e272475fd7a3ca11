/*
 * block_map.h - two bits for each block of a window: seen in a set, and counted
 * in a state.
 */
#ifndef RECLAIMER_VERIFY_BLOCK_MAP_H
#define RECLAIMER_VERIFY_BLOCK_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

/* Blocks of one window: 8 MiB of memory. */
#define BLOCK_MAP_WINDOW (UINT64_C(1) << 25)

struct block_map {
	uint64_t first, end; /* the window: [first, end) */
	uint64_t *seen, *counted;
};

/* Maps of up to `blocks` (<= BLOCK_MAP_WINDOW) blocks. */
int block_map_init(struct block_map *map, uint64_t blocks, struct error *err);
void block_map_free(struct block_map *map);

/* Turns to another window: nothing seen, nothing counted.  No longer than the
 * map was made for. */
void block_map_turn(struct block_map *map, uint64_t first, uint64_t end);

/* False when it was marked already.  `block` lies in the window. */
bool block_map_see(struct block_map *map, uint64_t block);
bool block_map_count(struct block_map *map, uint64_t block);

/* The next range of blocks from `at` on that were not seen; false: none. */
bool block_map_unseen(const struct block_map *map, uint64_t at,
		      uint64_t *ret_first, uint64_t *ret_last);

#endif
