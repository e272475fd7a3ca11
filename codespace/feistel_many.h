/*
 * feistel_many.h - feistel_permute of eight numbers in a row, side by side.
 *
 * One permutation is a chain of six hashes, each waiting for the one before;
 * the hashes of eight numbers wait for nothing of each other's, so that a
 * processor does them in the lanes of its vectors.  The results are those of
 * feistel_permute, whatever processor it is: AVX-512 or AVX2 is taken when
 * there is one, else what the compiler makes of plain vectors.
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

/* Vectors of the widest kind, which a test narrows to compare all. */
enum feistel_vectors {
	FEISTEL_PLAIN,
	FEISTEL_AVX2,
	FEISTEL_AVX512,
};

/* The best kind that this processor has. */
enum feistel_vectors feistel_vectors(void);

/* Permutes first to first + 7; both sizes of `f` must be below 2^32.  `kind` is
 * one that the processor has. */
void feistel_permute_many(const struct feistel *f, enum feistel_vectors kind,
			  uint64_t first, struct feistel_lanes *ret_lanes);

#endif
