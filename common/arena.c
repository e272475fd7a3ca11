#include "common/arena.h"

#include <stdalign.h>
#include <stdlib.h>

enum {
	BLOCK_SIZE = 64 * 1024
};

struct arena_block {
	struct arena_block *next;
	size_t size;
	alignas(max_align_t) char data[];
};

static bool add_arena_block(struct arena *a, size_t size)
{
	size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
	struct arena_block *b = malloc(sizeof(*b) + room);

	if (!b) {
		a->failed = true;
		return false;
	}
	b->next = a->blocks;
	b->size = room;
	a->blocks = b;
	a->used = 0;
	a->held += sizeof(*b) + room;
	return true;
}

void *arena_alloc(struct arena *a, size_t size)
{
	size_t align = alignof(max_align_t);
	void *p;

	size = (size + align - 1) / align * align;
	if (a->failed)
		return NULL;
	if (!a->blocks || a->blocks->size - a->used < size)
		if (!add_arena_block(a, size))
			return NULL;
	p = a->blocks->data + a->used;
	a->used += size;
	return p;
}

void arena_reset(struct arena *a)
{
	struct arena_block *kept = a->blocks;

	while (kept && kept->size != BLOCK_SIZE) {
		a->blocks = kept->next;
		free(kept);
		kept = a->blocks;
	}
	if (kept) {
		struct arena rest = {.blocks = kept->next};

		arena_free(&rest);
		kept->next = NULL;
	}
	*a = (struct arena){.blocks = kept,
			    .held = kept ? sizeof(*kept) + BLOCK_SIZE : 0};
}

void arena_free(struct arena *a)
{
	while (a->blocks) {
		struct arena_block *next = a->blocks->next;

		free(a->blocks);
		a->blocks = next;
	}
	*a = (struct arena){0};
}
