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

/* Allocates maps for up to `blocks` (<= BLOCK_MAP_WINDOW) blocks. */
int block_map_init(struct block_map *map, uint64_t blocks, struct error *err);
void block_map_free(struct block_map *map);

/* Moves to another window, with nothing seen and nothing counted.  It must not
 * be longer than the size given to block_map_init. */
void block_map_turn(struct block_map *map, uint64_t first, uint64_t end);

/* Return false if the block was already marked.  `block` is in the window. */
bool block_map_see(struct block_map *map, uint64_t block);
bool block_map_count(struct block_map *map, uint64_t block);

/* Returns the next range of unseen blocks from `at` on; false: none. */
bool block_map_unseen(const struct block_map *map, uint64_t at,
		      uint64_t *ret_first, uint64_t *ret_last);

#endif
