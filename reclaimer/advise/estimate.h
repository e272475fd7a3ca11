/*
 * estimate.h - what other block sizes would do, out of a sample of live blocks.
 *
 * Pure.  A code is dead when no link has it: its link has ended, was deleted,
 * or it was never used.  Dead codes of a live block are trapped: they come back
 * when the last link of the block ends.  Of a sampled block, cut into smaller
 * ones, the codes of a part without a link would be free already.  Of larger
 * blocks, the neighbours of a sampled block in its group would be trapped with
 * it: a group with L live blocks of m is met L times as often as one with one,
 * so each meeting counts (m - L) / L blocks.
 *
 * All shares are of the codes of live blocks, all errors are those of the
 * sample alone, at 95 %: 1.96 standard errors of the mean, less for a sample
 * that is a good part of all live blocks.  (Cochran, Sampling Techniques,
 * chapter 2.)
 */
#ifndef RECLAIMER_ADVISE_ESTIMATE_H
#define RECLAIMER_ADVISE_ESTIMATE_H

#include <stddef.h>
#include <stdint.h>

#define SIZES_MAX 12
#define GROUP_MAX 8 /* blocks of a group, the largest size looked at */

/* Sum and sum of squares of one figure over the sample. */
struct moments {
	double sum, squares;
};

struct size_figures {
	uint32_t size;		/* codes of a block */
	struct moments trapped; /* share of a live block's codes */
	double wait; /* sum over trapped codes of the time to their release */
	uint64_t waiting; /* how many that were; endless ones apart */
	uint64_t endless; /* trapped by a link that never ends */
};

struct sample_figures {
	uint32_t block_size;
	size_t size_count;
	struct size_figures sizes[SIZES_MAX]; /* from small to large */
	size_t present;			      /* which is block_size */
	uint64_t blocks;		      /* sampled */
	uint64_t live_codes;
};

/* Sizes to look at: parts of the block down to 10 codes, each about half of the
 * one before, and groups of 2, 4 and 8 blocks. */
void estimate_begin(struct sample_figures *s, uint32_t block_size);

/*
 * Adds a live block: the ends of its links (see code_expiries.h), its own by
 * its marker, and how many blocks of its groups of 2, 4 and 8 there are and are
 * live, itself included.
 */
struct neighbours {
	unsigned blocks, live;
};
void estimate_add(struct sample_figures *s, const int64_t *ends,
		  int64_t block_end, int64_t now,
		  const struct neighbours groups[3]);

struct estimate {
	double mean, error; /* +- at 95 % */
};

/* `population`: live blocks in all, of which the sample is one. */
struct estimate estimate_trapped(const struct sample_figures *s, size_t size,
				 double population);
/* ms that a trapped code waits on average; -1: none is known to end. */
double estimate_wait(const struct sample_figures *s, size_t size);

#endif
