/*
 * sampling.h - live blocks of a space, drawn at random and read code by code.
 *
 * Blocks are drawn evenly from all that were issued, those that are live (and
 * not in their holder's hands any more, who may still use their codes) are
 * taken: without repetition in spaces of up to SAMPLING_SHUFFLE blocks, with it
 * in larger ones, where it hardly ever happens.
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
/* Blocks drawn for each one wanted, at most. */
#define SAMPLING_DRAWS 200

struct sampling {
	struct redis *redis;
	const struct link_space *space;
	uint64_t wanted; /* live blocks */
	/* Called for each block drawn in; true to stop. */
	bool (*pause)(void *arg, uint64_t blocks, uint64_t wanted);
	void *arg;

	/* The result. */
	struct sample_figures figures;
	uint64_t issued; /* blocks there are */
	uint64_t drawn;
	uint64_t live, ended; /* of those drawn; held ones are neither */
	bool exhausted;	      /* no more live blocks to be had */
	double markers_per_second;
	uint64_t marker_bytes; /* one marker in Redis; 0: none was seen */
	uint64_t link_bytes;   /* one link, the same */
};

/* ERROR_UNSAFE: there is no such space.  ERROR_STOPPED: stopped. */
int sampling_run(struct sampling *s, struct error *err);

/* Live blocks of the whole space, as far as the draws tell. */
double sampling_population(const struct sampling *s);

#endif
