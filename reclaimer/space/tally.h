/*
 * tally.h - what a run found in a space, in blocks.
 *
 * scanned = freed + live + lost + gap + skipped.
 */
#ifndef RECLAIMER_SPACE_TALLY_H
#define RECLAIMER_SPACE_TALLY_H

#include <stdint.h>

struct tally {
	uint64_t scanned; /* due, and their markers were read */
	uint64_t freed;	  /* ended: closed and pooled */
	uint64_t live;	  /* to be scanned again at their end */
	uint64_t lost;	  /* without a marker: not pooled */
	uint64_t gap;	  /* without a marker: in a gap when Redis lost data */
	uint64_t skipped; /* returned by their holder meanwhile */
	/* Freed blocks whose links were looked up one by one. */
	uint64_t sampled;
};

#endif
