#include "linkstore/block/groups.h"

#include <stdlib.h>

#include "common/redis/slot.h"
#include "linkstore/command.h"

struct placed {
	unsigned slot;
	size_t at;
};

struct block_groups {
	struct placed *order; /* by slot; NULL: in the list's order */
	size_t count, next;
};

unsigned block_slot(const struct link_space *space, uint64_t block)
{
	char key[MARKER_KEY_MAX];

	return redis_slot(key, marker_key_format(space, block, key));
}

static int by_slot_then_place(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

struct block_groups *block_groups_new(const struct link_space *space,
				      const uint64_t *blocks, size_t count,
				      bool by_slot, struct error *err)
{
	struct block_groups *g = calloc(1, sizeof(*g));

	if (g && by_slot)
		g->order = calloc(count ? count : 1, sizeof(*g->order));
	if (!g || (by_slot && !g->order)) {
		block_groups_free(g);
		error_set_nomem(err);
		return NULL;
	}
	g->count = count;
	if (!by_slot)
		return g;
	for (size_t i = 0; i < count; i++)
		g->order[i] = (struct placed){block_slot(space, blocks[i]), i};
	qsort(g->order, count, sizeof(*g->order), by_slot_then_place);
	return g;
}

void block_groups_free(struct block_groups *g)
{
	if (!g)
		return;
	free(g->order);
	free(g);
}

static unsigned slot_at(const struct block_groups *g, size_t i)
{
	return g->order ? g->order[i].slot : 0;
}

bool block_groups_next(struct block_groups *g, struct block_group *ret_group)
{
	size_t count = 0;

	if (g->next == g->count)
		return false;
	ret_group->slot = slot_at(g, g->next);
	while (count < GROUP_MAX && g->next < g->count &&
	       slot_at(g, g->next) == ret_group->slot) {
		ret_group->at[count++] =
			g->order ? g->order[g->next].at : g->next;
		g->next++;
	}
	ret_group->count = count;
	return true;
}
