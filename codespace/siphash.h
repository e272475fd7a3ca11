/*
 * siphash.h - SipHash of one short message, inline.
 *
 * After Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012).  The
 * general function costs a call and a loop per hash; a permutation needs six of
 * them in a row, of messages that fit one word.
 */
#ifndef CODESPACE_SIPHASH_H
#define CODESPACE_SIPHASH_H

#include <stdint.h>

/* The initial state of a key. */
struct siphash {
	uint64_t v[4];
};

static inline struct siphash siphash_key(uint64_t k0, uint64_t k1)
{
	return (struct siphash){{
		k0 ^ UINT64_C(0x736f6d6570736575),
		k1 ^ UINT64_C(0x646f72616e646f6d),
		k0 ^ UINT64_C(0x6c7967656e657261),
		k1 ^ UINT64_C(0x7465646279746573),
	}};
}

static inline uint64_t siphash_rotl(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static inline __attribute__((always_inline)) void
siphash_round(struct siphash *s)
{
	uint64_t *v = s->v;

	v[0] += v[1];
	v[2] += v[3];
	v[1] = siphash_rotl(v[1], 13) ^ v[0];
	v[3] = siphash_rotl(v[3], 16) ^ v[2];
	v[0] = siphash_rotl(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = siphash_rotl(v[1], 17) ^ v[2];
	v[3] = siphash_rotl(v[3], 21) ^ v[0];
	v[2] = siphash_rotl(v[2], 32);
}

static inline void siphash_rounds(struct siphash *s, int rounds)
{
	for (int i = 0; i < rounds; i++)
		siphash_round(s);
}

static inline void siphash_word(struct siphash *s, uint64_t word, int c)
{
	s->v[3] ^= word;
	siphash_rounds(s, c);
	s->v[0] ^= word;
}

static inline uint64_t siphash_end(struct siphash *s, int d)
{
	s->v[2] ^= 0xff;
	siphash_rounds(s, d);
	return s->v[0] ^ s->v[1] ^ s->v[2] ^ s->v[3];
}

/* SipHash-c-d of the 7 bytes of `message` below 2^56, little-endian. */
static inline uint64_t siphash_7(struct siphash key, uint64_t message, int c,
				 int d)
{
	siphash_word(&key, message | UINT64_C(7) << 56, c);
	return siphash_end(&key, d);
}

/* Prepares the state for messages of 7 bytes that all have the bits of `high`,
 * up to where the first round uses the other bits: for siphash_1_3_of_7. */
static inline struct siphash siphash_prepare(struct siphash key, uint64_t high)
{
	key.v[0] += key.v[1];
	key.v[1] = siphash_rotl(key.v[1], 13) ^ key.v[0];
	key.v[0] = siphash_rotl(key.v[0], 32);
	key.v[3] ^= high | UINT64_C(7) << 56;
	return key;
}

/* Returns siphash_7(key, high | low, 1, 3), with no bit in both, from the state
 * prepared with `high`.  Only the shortest possible chain depends on `low`; a
 * call would take as long as the hash: always inline. */
static inline __attribute__((always_inline)) uint64_t
siphash_1_3_of_7(struct siphash prepared, uint64_t high, uint64_t low)
{
	uint64_t *v = prepared.v;

	v[3] ^= low;
	v[2] += v[3];
	v[3] = siphash_rotl(v[3], 16) ^ v[2];
	v[2] += v[1];
	v[0] += v[3];
	v[1] = siphash_rotl(v[1], 17) ^ v[2];
	v[3] = siphash_rotl(v[3], 21) ^ v[0];
	v[2] = siphash_rotl(v[2], 32) ^ 0xff;
	v[0] ^= high | UINT64_C(7) << 56 | low;
	siphash_round(&prepared);
	siphash_round(&prepared);
	siphash_round(&prepared);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
