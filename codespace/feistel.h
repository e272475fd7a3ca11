/*
 * feistel.h - a keyed permutation of the numbers below 62^n, n from 3 to 10.
 *
 * The n digits are split into u = floor(n/2) and v = ceil(n/2); eight rounds
 * add, in turn, a keyed function of the right part to the left part modulo 62^u
 * and of the left part to the right part modulo 62^v.  That is the alternating
 * Feistel network of FFX (Bellare, Rogaway, Spies, 2010) and FF1, with numbers
 * in place of digit strings: it permutes exactly the domain, so nothing has to
 * be walked or thrown away.  The round function is SipHash-1-3 of the part, the
 * round's number and n; its 64 bits are brought below the modulus by taking the
 * high half of a product, which is uneven by less than 2^-34.
 */
#ifndef CODESPACE_FEISTEL_H
#define CODESPACE_FEISTEL_H

#include <stdint.h>

#include "codespace/siphash.h"

#define FEISTEL_DIGITS_MIN 3
#define FEISTEL_DIGITS_MAX 10
#define FEISTEL_ROUNDS	   8

struct feistel {
	struct siphash key;
	uint64_t digits_tag; /* n, where the round's message carries it */
	uint64_t left_size;  /* 62^u */
	uint64_t right_size; /* 62^v */
	uint64_t reciprocal; /* floor(2^64 / right_size) */
};

/* A permuted number, as its two parts. */
struct feistel_parts {
	uint64_t left, right;
};

/* `digits` within the bounds; `key` is 16 bytes. */
void feistel_init(struct feistel *f, unsigned digits,
		  const unsigned char key[16]);

/* `number` is below left_size * right_size. */
struct feistel_parts feistel_permute(const struct feistel *f, uint64_t number);
uint64_t feistel_invert(const struct feistel *f, struct feistel_parts parts);

#endif
