/*
 * digits.h - numbers below 2^30 written with an alphabet, and read again.
 *
 * Two digits are written at a time, from a table of all pairs; reading adds up
 * the value of each symbol in its place.  Both tables have some 8 KiB.
 */
#ifndef CODESPACE_DIGITS_H
#define CODESPACE_DIGITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "codespace/alphabet.h"

#define DIGITS_MAX   5
#define DIGITS_SHIFT 44

struct digits {
	uint32_t pairs;	     /* number of pairs: the base's square */
	uint64_t reciprocal; /* floor(2^DIGITS_SHIFT / pairs) + 1 */
	char pair[ALPHABET_SIZE * ALPHABET_SIZE][2];
	/* The value by place, 0 for the last, and byte; the value of a byte
	 * that is no symbol is greater than that of all digits together. */
	uint64_t worth[DIGITS_MAX][256];
};

void digits_init(struct digits *d, const struct alphabet *alphabet);

/* Writes the last `count` digits of the number, and no NUL. */
static inline void digits_put(const struct digits *d, uint64_t number,
			      unsigned count, char *to)
{
	uint64_t rest;

	for (; count >= 2; number = rest) {
		count -= 2;
		/* Exact for numbers below 2^30. */
		rest = number * d->reciprocal >> DIGITS_SHIFT;
		memcpy(to + count, d->pair[number - rest * d->pairs], 2);
	}
	if (count)
		*to = d->pair[number][1];
}

/* Reads `count` digits, up to DIGITS_MAX; returns false if a byte is no
 * symbol. */
static inline bool digits_get(const struct digits *d, const char *from,
			      unsigned count, uint64_t *ret_number)
{
	uint64_t number = 0;

	while (count--)
		number += d->worth[count][(unsigned char)*from++];
	*ret_number = number;
	return number <= UINT32_MAX;
}

#endif
