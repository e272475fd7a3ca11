/*
 * bits.h - sets of small numbers, a bit each, in an array of words.
 *
 * Number n is bit n % 64 of word n / 64, so that a caller may combine several
 * sets a word at a time.  The functions are inline because inner loops use
 * them.
 */
#ifndef COMMON_BITS_H
#define COMMON_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Returns the number of words for the numbers below `count`. */
static inline size_t bits_words(uint64_t count)
{
	return (size_t)(count / 64 + (count % 64 != 0));
}

/* Returns the empty set of numbers below `count`, for free(); NULL if out of
 * memory. */
static inline uint64_t *bits_new(uint64_t count)
{
	return calloc(bits_words(count) + 1, sizeof(uint64_t));
}

static inline bool bits_have(const uint64_t *words, uint64_t n)
{
	return words[n / 64] >> n % 64 & 1;
}

/* Returns false if it was already in the set. */
static inline bool bits_add(uint64_t *words, uint64_t n)
{
	uint64_t *word = &words[n / 64];
	uint64_t bit = UINT64_C(1) << n % 64;
	bool is_new = !(*word & bit);

	*word |= bit;
	return is_new;
}

/* Returns the bits of word `index` for the numbers first to last, both
 * included.  `index` is one of first / 64 to last / 64. */
static inline uint64_t bits_mask(uint64_t index, uint64_t first, uint64_t last)
{
	uint64_t mask = UINT64_MAX;

	if (first > index * 64)
		mask <<= first - index * 64;
	if (last < index * 64 + 63)
		mask &= UINT64_MAX >> (index * 64 + 63 - last);
	return mask;
}

/* Counts the members from first to last, both included; first <= last. */
static inline uint64_t bits_count(const uint64_t *words, uint64_t first,
				  uint64_t last)
{
	uint64_t count = 0;

	for (uint64_t i = first / 64; i <= last / 64; i++)
		if (words[i])
			count += (uint64_t)__builtin_popcountll(
				words[i] & bits_mask(i, first, last));
	return count;
}

/* Returns the first number from `from` on whose bit differs from those of
 * `flip`, which is all ones or zeros; `end` if there is none before it. */
static inline uint64_t bits_find(const uint64_t *words, uint64_t from,
				 uint64_t end, uint64_t flip)
{
	for (uint64_t n = from; n < end; n += 64 - n % 64) {
		uint64_t rest = (words[n / 64] ^ flip) >> n % 64;

		if (rest) {
			n += (uint64_t)__builtin_ctzll(rest);
			return n < end ? n : end;
		}
	}
	return end;
}

/* Returns the first member from `from` on; `end` if there is none before it. */
static inline uint64_t bits_next(const uint64_t *words, uint64_t from,
				 uint64_t end)
{
	return bits_find(words, from, end, 0);
}

/* Returns the first number from `from` on that is no member; `end` if all
 * before it are. */
static inline uint64_t bits_next_absent(const uint64_t *words, uint64_t from,
					uint64_t end)
{
	return bits_find(words, from, end, UINT64_MAX);
}

#endif
