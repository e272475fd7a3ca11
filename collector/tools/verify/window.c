#include "collector/tools/verify/window.h"

#include <stdlib.h>
#include <string.h>

#include "common/bits.h"

int window_init(struct window *w, struct error *err)
{
	bool all = true;

	*w = (struct window){0};
	for (int i = 0; i < WINDOW_SETS; i++) {
		w->sets[i] = bits_new(WINDOW_OFFSETS);
		all = all && w->sets[i];
	}
	for (int i = 0; i < WINDOW_TIMES; i++) {
		w->times[i] =
			calloc(bits_words(WINDOW_OFFSETS), sizeof(uint64_t));
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
	return bits_words(w->end - w->base);
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

/* Returns the bits of word `i` that lie in the window. */
static uint64_t mask_in_window(const struct window *w, uint64_t i)
{
	return bits_mask(i, w->first - w->base, w->end - 1 - w->base);
}

/* Limits first and last to the window and converts them to bits of its sets;
 * returns false if nothing is left. */
static bool clip_range_to_window(const struct window *w, uint64_t *first,
				 uint64_t *last)
{
	if (*first < w->first)
		*first = w->first;
	if (w->end == w->first || *last < w->first || *first > w->end - 1)
		return false;
	if (*last > w->end - 1)
		*last = w->end - 1;
	if (*first > *last)
		return false;
	*first -= w->base;
	*last -= w->base;
	return true;
}

void window_add(struct window *w, enum window_set set, uint64_t offset)
{
	if (offset >= w->first && offset < w->end)
		bits_add(w->sets[set], offset - w->base);
}

void window_add_range(struct window *w, enum window_set set, uint64_t first,
		      uint64_t last)
{
	if (!clip_range_to_window(w, &first, &last))
		return;
	for (uint64_t i = first / 64; i <= last / 64; i++)
		w->sets[set][i] |= bits_mask(i, first, last);
}

void window_clear_range(struct window *w, enum window_set set, uint64_t first,
			uint64_t last)
{
	if (!clip_range_to_window(w, &first, &last))
		return;
	for (uint64_t i = first / 64; i <= last / 64; i++)
		w->sets[set][i] &= ~bits_mask(i, first, last);
}

void window_add_word(struct window *w, enum window_set set, uint64_t index,
		     uint64_t bits)
{
	if (index < words_in(w))
		w->sets[set][index] |= bits & mask_in_window(w, index);
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

void window_set_time(struct window *w, enum window_times whose, uint64_t index,
		     uint64_t ms)
{
	if (index < words_in(w))
		w->times[whose][index] = ms;
}

uint64_t window_word(const struct window *w, enum window_set set,
		     uint64_t index)
{
	return index < words_in(w) ? w->sets[set][index] : 0;
}

static bool is_uneven(const struct window *w, uint64_t i)
{
	return w->sets[IN_KAFKA][i] & w->sets[IN_ROWS][i] &&
	       w->sets[IN_KAFKA][i] != w->sets[IN_ROWS][i];
}

/* Returns whether the times of the two sides may differ.  The sum of the rows'
 * times includes offsets that Kafka lacks: it is useless if there are any. */
static bool may_be_others(const struct window *w, uint64_t i)
{
	uint64_t kafka = w->times[TIMES_OF_KAFKA][i],
		 rows = w->times[TIMES_OF_ROWS][i];

	if (!(w->sets[IN_KAFKA][i] & w->sets[IN_ROWS][i]) ||
	    kafka == WINDOW_TIME_UNKNOWN || rows == WINDOW_TIME_UNKNOWN)
		return false;
	return kafka != rows || w->sets[IN_ROWS][i] & ~w->sets[IN_KAFKA][i];
}

static uint64_t next_word(const struct window *w, uint64_t *index,
			  bool (*is)(const struct window *w, uint64_t i))
{
	while (*index < words_in(w)) {
		if (is(w, (*index)++))
			return *index - 1;
	}
	return UINT64_MAX;
}

uint64_t window_next_uneven(const struct window *w, uint64_t *index)
{
	return next_word(w, index, is_uneven);
}

uint64_t window_next_other(const struct window *w, uint64_t *index)
{
	return next_word(w, index, may_be_others);
}

static void subtract_sets_in_word(struct window *w, size_t i, unsigned but)
{
	for (int set = 0; set < WINDOW_SETS; set++)
		if (but & 1U << set)
			w->sets[LEFT][i] &= ~w->sets[set][i];
}

void window_subtract(struct window *w, unsigned but)
{
	for (size_t i = 0; i < words_in(w); i++) {
		w->sets[LEFT][i] = mask_in_window(w, i);
		subtract_sets_in_word(w, i, but);
	}
}

void window_subtract_from(struct window *w, enum window_set from, unsigned but)
{
	for (size_t i = 0; i < words_in(w); i++) {
		w->sets[LEFT][i] = w->sets[from][i];
		subtract_sets_in_word(w, i, but);
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
	return clip_range_to_window(w, &first, &last)
		       ? bits_count(w->sets[set], first, last)
		       : 0;
}

bool window_next_run(const struct window *w, enum window_set set, uint64_t *at,
		     uint64_t *ret_first, uint64_t *ret_last)
{
	const uint64_t *bits = w->sets[set];
	uint64_t end = w->end - w->base;
	uint64_t first = bits_next(bits, *at - w->base, end);
	uint64_t behind = bits_next_absent(bits, first, end);

	*at = w->base + behind;
	if (first == end)
		return false;
	*ret_first = w->base + first;
	*ret_last = *at - 1;
	return true;
}
