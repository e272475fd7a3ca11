/*
 * advice.h - which block size and which scan interval a space would do well
 * with, and why.
 *
 * Sizes: from the present one on to smaller ones, a step is worth it when it
 * sets at least ADVICE_GAIN of all codes free, by more than the sample's error,
 * as long as all markers together weigh at most ADVICE_MARKERS of what the
 * links weigh; on to larger ones when it costs less than ADVICE_LOSS.
 *
 * Intervals: a code that has ended waits half an interval for the scan, on top
 * of quarantine.  A scan costs the same for each block however often it is run,
 * and next to nothing besides, so that only the wait counts: the longest
 * interval whose half is at most a tenth of quarantine or ADVICE_DELAY of the
 * shortest TTL, whichever is more; the shortest where none is so short, and
 * that is said.
 */
#ifndef RECLAIMER_ADVISE_ADVICE_H
#define RECLAIMER_ADVISE_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "linkstore/space/ledger.h"
#include "reclaimer/advise/sampling.h"

#define ADVICE_GAIN    0.05
#define ADVICE_LOSS    0.01
#define ADVICE_MARKERS 0.10
#define ADVICE_DELAY   0.01
/* Live blocks, and ended ones for larger sizes, below which nothing is advised.
 */
#define ADVICE_SAMPLE 30
#define INTERVALS     6

struct size_advice {
	uint32_t size;
	struct estimate trapped; /* share of the codes of live blocks */
	double given_back; /* codes that would be free now; below 0: trapped */
	double given_back_error;
	double markers;	     /* of the whole space */
	double marker_bytes; /* of all of them; 0: not known */
	double reads_per_day;
	double read_seconds_per_day;
	double opens_per_million; /* blocks opened for a million links */
	double wait;		  /* ms; -1: not known */
};

struct interval_advice {
	int64_t interval; /* ms */
	double delay;	  /* ms from the end of a block to its next grant */
	double idle;	  /* codes that wait for a scan at any moment */
	double runs_per_day;
};

struct advice {
	struct size_advice sizes[SIZES_MAX];
	size_t size_count, present, best;
	struct interval_advice intervals[INTERVALS];
	size_t best_interval;
	double live_blocks, freed_per_day; /* blocks */
	double links_bytes;		   /* of all links; 0: not known */
	bool enough;			   /* the sample is */
	char size_reason[400], interval_reason[400];
};

void advice_make(const struct sampling *s, const struct space_ledger *ledger,
		 struct advice *ret);

#endif
