/* arena.h - many small allocations, freed all at once. */
#ifndef COMMON_ARENA_H
#define COMMON_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_block;

/* Start from `struct arena a = {0};`, end with arena_free. */
struct arena {
	struct arena_block *blocks;
	size_t used; /* bytes in the newest block */
	size_t held; /* bytes in all blocks */
	bool failed; /* memory ran out; sticky */
};

/* Returns uninitialised memory, aligned for any type, or NULL. */
void *arena_alloc(struct arena *a, size_t size);

/* Releases all allocations and keeps some memory for the next round. */
void arena_reset(struct arena *a);
void arena_free(struct arena *a);

#endif
