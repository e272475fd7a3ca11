/*
 * siphash.h - SipHash of one short message, inline.
 *
 * After Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012).  The
 * general function costs a call and a loop per hash; a permutation asks for
 * eight of them in a row, of messages that fit one or two words.
 */
#ifndef CODESPACE_SIPHASH_H
#define CODESPACE_SIPHASH_H

#include <stdint.h>

/* The state that a key starts from. */
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

static inline void siphash_rounds(struct siphash *s, int rounds)
{
	uint64_t *v = s->v;

	for (int i = 0; i < rounds; i++) {
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

/* SipHash-c-d of the 8 bytes of `message`, little-endian. */
static inline uint64_t siphash_8(struct siphash key, uint64_t message, int c,
				 int d)
{
	siphash_word(&key, message, c);
	siphash_word(&key, UINT64_C(8) << 56, c);
	return siphash_end(&key, d);
}

#endif
