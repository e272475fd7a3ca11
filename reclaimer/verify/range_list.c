#include "reclaimer/verify/range_list.h"

#include <stdlib.h>

void range_list_free(struct range_list *r)
{
	free(r->list);
	*r = (struct range_list){0};
}

static int grow_range_list(struct range_list *r, struct error *err)
{
	size_t room = r->room ? 2 * r->room : 64;
	struct block_range *list = realloc(r->list, room * sizeof(*list));

	if (!list) {
		error_set_nomem(err);
		return -1;
	}
	r->list = list;
	r->room = room;
	return 0;
}

int range_list_add(struct range_list *r, uint64_t first, uint64_t last,
		   uint32_t generation, struct error *err)
{
	struct block_range *end =
		r->list && r->count ? &r->list[r->count - 1] : NULL;

	if (end && end->last + 1 == first && end->generation == generation) {
		end->last = last;
		return 0;
	}
	if (r->count == RANGE_LIST_MAX) {
		r->left_out += last - first + 1;
		return 0;
	}
	if ((!r->list || r->count == r->room) && grow_range_list(r, err) < 0)
		return -1;
	r->list[r->count++] = (struct block_range){first, last, generation};
	return 0;
}

static int by_first(const void *a, const void *b)
{
	uint64_t x = ((const struct block_range *)a)->first;
	uint64_t y = ((const struct block_range *)b)->first;

	return (x > y) - (x < y);
}

void range_list_sort(struct range_list *r)
{
	size_t kept = 0;

	if (!r->count)
		return;
	qsort(r->list, r->count, sizeof(*r->list), by_first);
	for (size_t i = 1; i < r->count; i++) {
		struct block_range *last = &r->list[kept], *next = &r->list[i];

		if (next->first > last->last + 1 ||
		    next->generation != last->generation)
			r->list[++kept] = *next;
		else if (next->last > last->last)
			last->last = next->last;
	}
	r->count = kept + 1;
}

size_t range_list_find(const struct range_list *r, uint64_t block)
{
	size_t low = 0, high = r->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->list[middle].last < block)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
