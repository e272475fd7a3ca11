/*
 * sampling.h - samples live blocks of a space at random and reads them code by
 * code.
 *
 * Blocks are drawn uniformly from all issued blocks, and the live ones are
 * taken, except blocks that a holder may still issue from.  In spaces of up to
 * SAMPLING_SHUFFLE blocks there is no repetition; in larger ones repetition is
 * possible, but very rare.
 */
#ifndef RECLAIMER_ADVISE_SAMPLING_H
#define RECLAIMER_ADVISE_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/redis/redis.h"
#include "linkstore/linkstore.h"
#include "reclaimer/advise/estimate.h"

#define SAMPLING_SHUFFLE 65536
/* Most blocks drawn for each one wanted. */
#define SAMPLING_DRAWS 200

struct sampling {
	struct redis *redis;
	const struct link_space *space;
	uint64_t wanted; /* live blocks */
	/* Called for each block drawn in; returns true to stop. */
	bool (*pause)(void *arg, uint64_t blocks, uint64_t wanted);
	void *arg;

	/* The result. */
	struct sample_figures figures;
	uint64_t issued; /* number of issued blocks */
	uint64_t drawn;
	uint64_t live, ended; /* drawn blocks that are; held ones are neither */
	bool exhausted;	      /* no more live blocks could be found */
	double markers_per_second;
	/* Size of one marker in Redis; 0: none was found. */
	uint64_t marker_bytes;
	uint64_t link_bytes; /* size of one link in Redis; 0: none was found */
};

/* ERROR_UNSAFE: the space does not exist.  ERROR_STOPPED: stopped by
 * `pause`. */
int sampling_run(struct sampling *s, struct error *err);

/* Estimates the live blocks of the whole space from the draws. */
double sampling_population(const struct sampling *s);

#endif
