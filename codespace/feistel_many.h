/*
 * feistel_many.h - feistel_permute of eight consecutive numbers, in parallel.
 *
 * One permutation is a chain of six hashes, each waiting for the one before;
 * the hashes of different numbers are independent, so that a processor computes
 * them in the lanes of its vectors.  The results are those of feistel_permute
 * on every processor: AVX-512 or AVX2 is used if available, else the compiler's
 * code for plain vectors.
 */
#ifndef CODESPACE_FEISTEL_MANY_H
#define CODESPACE_FEISTEL_MANY_H

#include <stdint.h>

#include "codespace/feistel.h"

#define FEISTEL_LANES 8

struct feistel_lanes {
	uint64_t left[FEISTEL_LANES];
	uint64_t right[FEISTEL_LANES];
	uint64_t tag[FEISTEL_LANES];
};

/* The kinds of vectors; a test selects each to compare them all. */
enum feistel_vectors {
	FEISTEL_PLAIN,
	FEISTEL_AVX2,
	FEISTEL_AVX512,
};

/* Returns the best kind that this processor has. */
enum feistel_vectors feistel_vectors(void);

/* Permutes first to first + 7; both sizes of `f` must be below 2^32.  `kind` is
 * one that the processor has. */
void feistel_permute_many(const struct feistel *f, enum feistel_vectors kind,
			  uint64_t first, struct feistel_lanes *ret_lanes);

#endif
