/*
 * estimate.h - estimates the effect of other block sizes from a sample of live
 * blocks.
 *
 * Pure.  A code is dead if no link has it: its link has ended or was deleted,
 * or it was never used.  Dead codes of a live block are trapped: they are freed
 * when the last link of the block ends.  If a sampled block is cut into smaller
 * ones, the codes of a part without a link would be free already.  With larger
 * blocks, the neighbours of a sampled block in its group would be trapped with
 * it: a group with L live blocks of m is found L times as often as one with one
 * live block, so each time it counts (m - L) / L blocks.
 *
 * All shares are shares of the codes of live blocks.  All errors are sampling
 * errors at 95 %: 1.96 standard errors of the mean, less for a sample that is a
 * large part of all live blocks. (Cochran, Sampling Techniques, chapter 2.)
 */
#ifndef RECLAIMER_ADVISE_ESTIMATE_H
#define RECLAIMER_ADVISE_ESTIMATE_H

#include <stddef.h>
#include <stdint.h>

#define SIZES_MAX 12
#define GROUP_MAX 8 /* blocks of a group; the largest size */

/* Sum and sum of squares of one figure over the sample. */
struct moments {
	double sum, squares;
};

struct size_figures {
	uint32_t size;		/* codes of a block */
	struct moments trapped; /* share of a live block's codes */
	double wait; /* sum over trapped codes of the time to their release */
	uint64_t waiting; /* number of these, without endless ones */
	uint64_t endless; /* trapped by a link that never ends */
};

struct sample_figures {
	uint32_t block_size;
	size_t size_count;
	struct size_figures sizes[SIZES_MAX]; /* from small to large */
	size_t present;	 /* index of block_size in `sizes` */
	uint64_t blocks; /* number sampled */
	uint64_t live_codes;
};

/* Sets the sizes to estimate: parts of the block down to 10 codes, each about
 * half of the one before, and groups of 2, 4 and 8 blocks. */
void estimate_begin(struct sample_figures *s, uint32_t block_size);

/*
 * Adds a live block: the ends of its links (see code_expiries.h), its own end
 * by its marker, and, for its groups of 2, 4 and 8, how many blocks exist and
 * how many are live, including itself.
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

/* `population`: number of all live blocks, from which the sample was taken. */
struct estimate estimate_trapped(const struct sample_figures *s, size_t size,
				 double population);
/* Returns the average wait of a trapped code in ms; -1: none is known to
 * end. */
double estimate_wait(const struct sample_figures *s, size_t size);

#endif
