/*
 * tally.h - what a run came upon in a space, in blocks.
 *
 * scanned = freed + live + lost + gap + skipped.
 */
#ifndef RECLAIMER_SPACE_TALLY_H
#define RECLAIMER_SPACE_TALLY_H

#include <stdint.h>

struct tally {
	uint64_t scanned; /* due, and their markers read */
	uint64_t freed;	  /* ended: closed, and into the pool */
	uint64_t live;	  /* to be scanned again at their end */
	uint64_t lost;	  /* without a marker: kept out of the pool */
	uint64_t gap;	  /* the same, but skipped when Redis forgot */
	uint64_t skipped; /* handed back by their holder meanwhile */
	uint64_t sampled; /* of the freed: links looked up code by code */
};

#endif
