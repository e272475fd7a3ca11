#include "collector/exactly_once/ranges.h"

#include <stdlib.h>

void ranges_release(struct ranges *r)
{
	free(r->items);
	*r = (struct ranges){0};
}

int ranges_add(struct ranges *r, uint64_t first, uint64_t last,
	       struct error *err)
{
	if (r->count == r->cap) {
		size_t cap = r->cap ? r->cap * 2 : 16;
		struct range *items = realloc(r->items, cap * sizeof(*items));

		if (!items)
			return error_set_nomem(err);
		r->items = items;
		r->cap = cap;
	}
	r->items[r->count++] = (struct range){first, last};
	return 0;
}

int ranges_note(struct ranges *r, uint64_t offset, struct error *err)
{
	if (r->count && r->items[r->count - 1].last + 1 == offset) {
		r->items[r->count - 1].last = offset;
		return 0;
	}
	return ranges_add(r, offset, offset, err);
}

bool ranges_have(struct ranges *r, uint64_t offset)
{
	if (r->at && offset <= r->items[r->at - 1].last)
		r->at = 0;
	while (r->at < r->count && r->items[r->at].last < offset)
		r->at++;
	return r->at < r->count && r->items[r->at].first <= offset;
}

uint64_t ranges_end(const struct ranges *r)
{
	return r->count ? r->items[r->count - 1].last + 1 : 0;
}

uint64_t ranges_count(const struct ranges *r, uint64_t first, uint64_t last)
{
	uint64_t count = 0;

	for (size_t i = 0; i < r->count; i++) {
		const struct range *it = &r->items[i];
		uint64_t from = it->first > first ? it->first : first;
		uint64_t to = it->last < last ? it->last : last;

		if (from <= to)
			count += to - from + 1;
	}
	return count;
}

uint64_t ranges_common(const struct ranges *a, const struct ranges *b)
{
	uint64_t count = 0;
	size_t i = 0, j = 0;

	while (i < a->count && j < b->count) {
		const struct range *x = &a->items[i], *y = &b->items[j];
		uint64_t from = x->first > y->first ? x->first : y->first;
		uint64_t to = x->last < y->last ? x->last : y->last;

		if (from <= to)
			count += to - from + 1;
		if (x->last < y->last)
			i++;
		else
			j++;
	}
	return count;
}
