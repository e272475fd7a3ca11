/*
 * feistel.h - a keyed permutation of the numbers below left_size * right_size.
 *
 * A number is split into a left and a right part; eight rounds add, in turn, a
 * keyed function of the right part to the left part modulo left_size and of the
 * left part to the right part modulo right_size.  That is the alternating
 * Feistel network of FFX (Bellare, Rogaway, Spies, 2010) and FF1, with numbers
 * in place of digit strings: it permutes exactly the domain, so nothing has to
 * be walked or thrown away.  The round function is SipHash-1-3 of the part and
 * the round's number; its 64 bits are brought below the modulus by taking the
 * high half of a product, which is uneven by less than 2^-32.
 */
#ifndef CODESPACE_FEISTEL_H
#define CODESPACE_FEISTEL_H

#include <stdint.h>

#include "codespace/siphash.h"

#define FEISTEL_ROUNDS 8

struct feistel {
	struct siphash key;
	uint64_t left_size;
	uint64_t right_size;
	uint64_t reciprocal; /* floor(2^64 / right_size) */
};

/* A permuted number, as its two parts. */
struct feistel_parts {
	uint64_t left, right;
};

/* Both sizes from 2 to 2^32; `key` is 16 bytes. */
void feistel_init(struct feistel *f, uint64_t left_size, uint64_t right_size,
		  const unsigned char key[16]);

/* `number` is below left_size * right_size. */
struct feistel_parts feistel_permute(const struct feistel *f, uint64_t number);
uint64_t feistel_invert(const struct feistel *f, struct feistel_parts parts);

#endif
