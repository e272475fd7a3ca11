#include "reclaimer/verify/stretches.h"

#include <stdlib.h>

void stretches_free(struct stretches *s)
{
	free(s->list);
	*s = (struct stretches){0};
}

static int grow(struct stretches *s, struct error *err)
{
	size_t room = s->room ? 2 * s->room : 64;
	struct stretch *list = realloc(s->list, room * sizeof(*list));

	if (!list) {
		error_set_nomem(err);
		return -1;
	}
	s->list = list;
	s->room = room;
	return 0;
}

int stretches_add(struct stretches *s, uint64_t first, uint64_t last,
		  uint32_t generation, struct error *err)
{
	struct stretch *end =
		s->list && s->count ? &s->list[s->count - 1] : NULL;

	if (end && end->last + 1 == first && end->generation == generation) {
		end->last = last;
		return 0;
	}
	if (s->count == STRETCHES_MAX) {
		s->left_out += last - first + 1;
		return 0;
	}
	if ((!s->list || s->count == s->room) && grow(s, err) < 0)
		return -1;
	s->list[s->count++] = (struct stretch){first, last, generation};
	return 0;
}

static int by_first(const void *a, const void *b)
{
	uint64_t x = ((const struct stretch *)a)->first;
	uint64_t y = ((const struct stretch *)b)->first;

	return (x > y) - (x < y);
}

void stretches_sort(struct stretches *s)
{
	size_t kept = 0;

	if (!s->count)
		return;
	qsort(s->list, s->count, sizeof(*s->list), by_first);
	for (size_t i = 1; i < s->count; i++) {
		struct stretch *last = &s->list[kept], *next = &s->list[i];

		if (next->first > last->last + 1 ||
		    next->generation != last->generation)
			s->list[++kept] = *next;
		else if (next->last > last->last)
			last->last = next->last;
	}
	s->count = kept + 1;
}

size_t stretches_find(const struct stretches *s, uint64_t block)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->list[middle].last < block)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
