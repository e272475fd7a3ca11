/*
 * feistel.h - a keyed permutation of the numbers below left_size * right_size.
 *
 * A number is split into a left and a right part; six rounds add, in turn, a
 * keyed function of the right part to the left part modulo left_size and of the
 * left part to the right part modulo right_size.  That is the alternating
 * Feistel network of FFX (Bellare, Rogaway, Spies, 2010) and FF1, with numbers
 * in place of digit strings: it permutes exactly the domain, so nothing has to
 * be walked or thrown away.  The round function is SipHash-1-3 of the part and
 * the round's number; its 64 bits are brought below the modulus by taking the
 * high half of a product, which is uneven by less than 2^-32.
 *
 * Why six rounds.  Patarin ("Security of random Feistel schemes with 5 or more
 * rounds", CRYPTO 2004) proves six rounds of random functions to be as good as
 * a random permutation against an attacker who chooses both numbers and
 * results, as long as the attacker sees fewer than about as many as a part has
 * values (62^3 for codes of 7), and knows no attack that needs less than nearly
 * all numbers ("Generic attacks on Feistel schemes", ASIACRYPT 2001).  The
 * attacks that made NIST require 8 to 10 rounds (Bellare, Hoang, Tessaro, 2016;
 * Durak, Vaudenay, 2017; Hoang, Tessaro, Trieu, 2018) put the same few numbers
 * through very many permutations, one a tweak; here a key has one.  Cheaper
 * rounds at both ends (universal hashes, Naor and Reingold, 1999) would keep
 * the birthday bound only: some 500 codes of 7.  Hash tables of Rust and
 * CPython use SipHash-1-3 against flooding; the known attacks on it need to see
 * its results, which are never visible here.
 *
 * A permutation also gives a tag: the sum of the low bits of the hashes of
 * rounds four and five, which the rounds do not use.  It depends on both parts
 * through the two rounds after, costs nothing, and is known after half of the
 * inverse: a number with a wrong tag is refused there.
 */
#ifndef CODESPACE_FEISTEL_H
#define CODESPACE_FEISTEL_H

#include <stdbool.h>
#include <stdint.h>

#include "codespace/siphash.h"

#define FEISTEL_ROUNDS	 6
#define FEISTEL_TAG_BITS 16

struct feistel {
	struct siphash rounds[FEISTEL_ROUNDS]; /* prepared */
	uint64_t left_size;
	uint64_t right_size;
	uint64_t reciprocal; /* floor(2^64 / right_size) */
	uint64_t tags;
};

/* A permuted number, as its two parts, and its tag. */
struct feistel_parts {
	uint64_t left, right;
	uint64_t tag; /* below the number of tags */
};

/* Prepares the permutation.  Both sizes are from 2 to 2^32; `key` is 16 bytes.
 * There are `tags` different tags, at least 1 and few against
 * 2^FEISTEL_TAG_BITS. */
void feistel_init(struct feistel *f, uint64_t left_size, uint64_t right_size,
		  unsigned tags, const unsigned char key[16]);

static inline uint64_t feistel_high(uint64_t a, uint64_t b)
{
	return (uint64_t)((unsigned __int128)a * b >> 64);
}

static inline uint64_t feistel_hash(const struct feistel *f, uint64_t round,
				    uint64_t part)
{
	return siphash_1_3_of_7(f->rounds[round], round << 32, part);
}

/* Has no branch: the result of the comparison is unpredictable. */
static inline uint64_t feistel_add(uint64_t part, uint64_t hash, uint64_t size)
{
	uint64_t less = part - size, value = feistel_high(hash, size);
	uint64_t sum = part + value;

	less += value;
	return (int64_t)less < 0 ? sum : less;
}

static inline uint64_t feistel_subtract(uint64_t part, uint64_t hash,
					uint64_t size)
{
	uint64_t value = feistel_high(hash, size);
	uint64_t rest = part - value, more = part + size - value;

	return (int64_t)rest < 0 ? more : rest;
}

static inline uint64_t feistel_tag(const struct feistel *f, uint64_t hashes)
{
	return (hashes & ((1u << FEISTEL_TAG_BITS) - 1)) * f->tags >>
	       FEISTEL_TAG_BITS;
}

/* Computes number / right_size and the remainder.  A division costs as much as
 * a round; the product with the reciprocal is at most one too low. */
static inline struct feistel_parts feistel_split(const struct feistel *f,
						 uint64_t number)
{
	uint64_t left = feistel_high(number, f->reciprocal);
	uint64_t right = number - left * f->right_size;

	if (right >= f->right_size) {
		right -= f->right_size;
		left++;
	}
	return (struct feistel_parts){.left = left, .right = right};
}

/* Runs the first rounds only: tests weaken the network with it, to show that
 * they notice.  `rounds` is a constant, which the compiler removes. */
static inline struct feistel_parts
feistel_permute_rounds(const struct feistel *f, uint64_t number,
		       unsigned rounds)
{
	uint64_t ls = f->left_size, rs = f->right_size, third = 0, fourth = 0;
	struct feistel_parts p = feistel_split(f, number);

	if (rounds > 0)
		p.left = feistel_add(p.left, feistel_hash(f, 0, p.right), ls);
	if (rounds > 1)
		p.right = feistel_add(p.right, feistel_hash(f, 1, p.left), rs);
	if (rounds > 2)
		p.left = feistel_add(p.left, feistel_hash(f, 2, p.right), ls);
	if (rounds > 3) {
		third = feistel_hash(f, 3, p.left);
		p.right = feistel_add(p.right, third, rs);
	}
	if (rounds > 4) {
		fourth = feistel_hash(f, 4, p.right);
		p.left = feistel_add(p.left, fourth, ls);
	}
	if (rounds > 5)
		p.right = feistel_add(p.right, feistel_hash(f, 5, p.left), rs);
	p.tag = feistel_tag(f, third + fourth);
	return p;
}

/* `number` is below left_size * right_size. */
static inline struct feistel_parts feistel_permute(const struct feistel *f,
						   uint64_t number)
{
	return feistel_permute_rounds(f, number, FEISTEL_ROUNDS);
}

/* Returns the number; returns false, for half the work, if the tag differs. */
static inline bool feistel_invert(const struct feistel *f,
				  struct feistel_parts p, uint64_t *ret_number)
{
	uint64_t ls = f->left_size, rs = f->right_size, third, fourth;

	p.right = feistel_subtract(p.right, feistel_hash(f, 5, p.left), rs);
	fourth = feistel_hash(f, 4, p.right);
	p.left = feistel_subtract(p.left, fourth, ls);
	third = feistel_hash(f, 3, p.left);
	if (feistel_tag(f, third + fourth) != p.tag)
		return false;
	p.right = feistel_subtract(p.right, third, rs);
	p.left = feistel_subtract(p.left, feistel_hash(f, 2, p.right), ls);
	p.right = feistel_subtract(p.right, feistel_hash(f, 1, p.left), rs);
	p.left = feistel_subtract(p.left, feistel_hash(f, 0, p.right), ls);
	*ret_number = p.left * rs + p.right;
	return true;
}

#endif
