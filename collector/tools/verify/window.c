#include "collector/tools/verify/window.h"

#include <stdlib.h>
#include <string.h>

#define WORDS (WINDOW_OFFSETS / 64)

int window_init(struct window *w, struct error *err)
{
	bool all = true;

	*w = (struct window){0};
	for (int i = 0; i < WINDOW_SETS; i++) {
		w->sets[i] = calloc(WORDS, sizeof(uint64_t));
		all = all && w->sets[i];
	}
	for (int i = 0; i < WINDOW_TIMES; i++) {
		w->times[i] = calloc(WORDS, sizeof(uint64_t));
		all = all && w->times[i];
	}
	if (all)
		return 0;
	window_release(w);
	return error_set_nomem(err);
}

void window_release(struct window *w)
{
	for (int i = 0; i < WINDOW_SETS; i++)
		free(w->sets[i]);
	for (int i = 0; i < WINDOW_TIMES; i++)
		free(w->times[i]);
	*w = (struct window){0};
}

static size_t words_in(const struct window *w)
{
	return (size_t)((w->end - w->base + 63) / 64);
}

uint64_t window_reach(uint64_t first, uint64_t end)
{
	uint64_t reach = first - first % 64 + WINDOW_OFFSETS;

	return reach < end ? reach : end;
}

void window_begin(struct window *w, uint64_t first, uint64_t end)
{
	w->base = first - first % 64;
	w->first = first;
	w->end = end;
	for (int i = 0; i < WINDOW_SETS; i++)
		memset(w->sets[i], 0, words_in(w) * sizeof(uint64_t));
	for (int i = 0; i < WINDOW_TIMES; i++)
		memset(w->times[i], 0, words_in(w) * sizeof(uint64_t));
}

/* The bits of word `i` that lie in the window and from first to last. */
static uint64_t mask_of(const struct window *w, uint64_t i, uint64_t first,
			uint64_t last)
{
	uint64_t at = w->base + i * 64, mask = ~UINT64_C(0);

	if (first < w->first)
		first = w->first;
	if (last > w->end - 1)
		last = w->end - 1;
	if (first > at)
		mask &= ~UINT64_C(0) << (first - at);
	if (last - at < 63)
		mask &= ~UINT64_C(0) >> (63 - (last - at));
	return mask;
}

/* Cuts first and last to the window; false when nothing is left. */
static bool cut(const struct window *w, uint64_t *first, uint64_t *last)
{
	if (*first < w->first)
		*first = w->first;
	if (w->end == w->first || *last < w->first || *first > w->end - 1)
		return false;
	if (*last > w->end - 1)
		*last = w->end - 1;
	return *first <= *last;
}

void window_add(struct window *w, enum window_set set, uint64_t offset)
{
	if (offset < w->first || offset >= w->end)
		return;
	w->sets[set][(offset - w->base) / 64] |= UINT64_C(1) << offset % 64;
}

void window_add_range(struct window *w, enum window_set set, uint64_t first,
		      uint64_t last)
{
	if (!cut(w, &first, &last))
		return;
	for (uint64_t i = (first - w->base) / 64; i <= (last - w->base) / 64;
	     i++)
		w->sets[set][i] |= mask_of(w, i, first, last);
}

void window_clear_range(struct window *w, enum window_set set, uint64_t first,
			uint64_t last)
{
	if (!cut(w, &first, &last))
		return;
	for (uint64_t i = (first - w->base) / 64; i <= (last - w->base) / 64;
	     i++)
		w->sets[set][i] &= ~mask_of(w, i, first, last);
}

void window_add_word(struct window *w, enum window_set set, uint64_t index,
		     uint64_t bits)
{
	if (index < words_in(w))
		w->sets[set][index] |=
			bits & mask_of(w, index, w->first, w->end - 1);
}

void window_add_set(struct window *w, enum window_set set,
		    const struct offset_set *from)
{
	if (!from->total)
		return;
	for (size_t i = 0; i < words_in(w); i++)
		window_add_word(w, set, i,
				offset_set_word(from, w->base + i * 64));
}

void window_add_time(struct window *w, enum window_times whose, uint64_t index,
		     uint64_t ms)
{
	uint64_t *sum;

	if (index >= words_in(w))
		return;
	sum = &w->times[whose][index];
	if (*sum != WINDOW_TIME_UNKNOWN)
		*sum = ms == WINDOW_TIME_UNKNOWN ? ms : *sum + ms;
}

static bool are_others(const struct window *w, uint64_t i)
{
	uint64_t kafka = w->times[TIMES_OF_KAFKA][i],
		 rows = w->times[TIMES_OF_ROWS][i];

	return w->sets[IN_KAFKA][i] == w->sets[IN_ROWS][i] && kafka != rows &&
	       kafka != WINDOW_TIME_UNKNOWN && rows != WINDOW_TIME_UNKNOWN;
}

uint64_t window_next_other(const struct window *w, uint64_t *index)
{
	while (*index < words_in(w)) {
		if (are_others(w, (*index)++))
			return *index - 1;
	}
	return UINT64_MAX;
}

static void subtract(struct window *w, size_t i, unsigned but)
{
	for (int set = 0; set < WINDOW_SETS; set++)
		if (but & 1U << set)
			w->sets[LEFT][i] &= ~w->sets[set][i];
}

void window_subtract(struct window *w, unsigned but)
{
	for (size_t i = 0; i < words_in(w); i++) {
		w->sets[LEFT][i] = mask_of(w, i, w->first, w->end - 1);
		subtract(w, i, but);
	}
}

void window_subtract_from(struct window *w, enum window_set from, unsigned but)
{
	for (size_t i = 0; i < words_in(w); i++) {
		w->sets[LEFT][i] = w->sets[from][i];
		subtract(w, i, but);
	}
}

void window_keep(struct window *w, enum window_set set, enum window_set of)
{
	for (size_t i = 0; i < words_in(w); i++)
		w->sets[set][i] &= w->sets[of][i];
}

void window_remove(struct window *w, enum window_set set, enum window_set of)
{
	for (size_t i = 0; i < words_in(w); i++)
		w->sets[set][i] &= ~w->sets[of][i];
}

uint64_t window_count_both(const struct window *w, enum window_set a,
			   enum window_set b)
{
	uint64_t count = 0;

	for (size_t i = 0; i < words_in(w); i++)
		count += (uint64_t)__builtin_popcountll(w->sets[a][i] &
							w->sets[b][i]);
	return count;
}

uint64_t window_count(const struct window *w, enum window_set set)
{
	return window_count_both(w, set, set);
}

uint64_t window_count_in(const struct window *w, enum window_set set,
			 uint64_t first, uint64_t last)
{
	uint64_t count = 0;

	if (!cut(w, &first, &last))
		return 0;
	for (uint64_t i = (first - w->base) / 64; i <= (last - w->base) / 64;
	     i++)
		count += (uint64_t)__builtin_popcountll(
			w->sets[set][i] & mask_of(w, i, first, last));
	return count;
}

static bool is_in(const struct window *w, enum window_set set, uint64_t offset)
{
	return w->sets[set][(offset - w->base) / 64] >> offset % 64 & 1;
}

bool window_next_run(const struct window *w, enum window_set set, uint64_t *at,
		     uint64_t *ret_first, uint64_t *ret_last)
{
	uint64_t offset = *at;

	while (offset < w->end && !is_in(w, set, offset)) {
		/* Most words are empty. */
		if (offset % 64 == 0 && !w->sets[set][(offset - w->base) / 64])
			offset += 64;
		else
			offset++;
	}
	if (offset >= w->end) {
		*at = w->end;
		return false;
	}
	*ret_first = offset;
	while (offset < w->end && is_in(w, set, offset))
		offset++;
	*ret_last = offset - 1;
	*at = offset;
	return true;
}
