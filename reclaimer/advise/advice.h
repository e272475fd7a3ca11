/*
 * advice.h - which block size and which scan interval suit a space, and why.
 *
 * Sizes: from the present size towards smaller ones, a step is advised if it
 * frees at least ADVICE_GAIN of all codes, by more than the sample's error, as
 * long as all markers together take at most ADVICE_MARKERS of the memory of the
 * links; a step to a larger size is advised if it costs less than ADVICE_LOSS.
 *
 * Intervals: an ended code waits half an interval on average for the scan, in
 * addition to the quarantine.  A scan costs the same for each block however
 * often it runs, and almost nothing else, so only the wait counts.  The advice
 * is the longest interval whose half is at most a tenth of the quarantine or
 * ADVICE_DELAY of the shortest TTL, whichever is more; if there is none, the
 * shortest interval, and the reason states that.
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
/* Nothing is advised from fewer live blocks; larger sizes also need that many
 * ended blocks. */
#define ADVICE_SAMPLE 30
#define INTERVALS     6

struct size_advice {
	uint32_t size;
	struct estimate trapped; /* share of the codes of live blocks */
	double given_back; /* codes that would be free now; below 0: trapped */
	double given_back_error;
	double markers;	     /* markers of the whole space */
	double marker_bytes; /* bytes of all markers; 0: not known */
	double reads_per_day;
	double read_seconds_per_day;
	double opens_per_million; /* blocks opened for each million links */
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
	double links_bytes; /* bytes of all links; 0: not known */
	bool enough;	    /* whether the sample is large enough */
	char size_reason[400], interval_reason[400];
};

void advice_make(const struct sampling *s, const struct space_ledger *ledger,
		 struct advice *ret);

#endif
