/*
 * outlook.h - computes from its ledger how fast a space is used up, and when it
 * will be full.
 *
 * Rates are averages over the last seven whole UTC days and today so far, or
 * over the time since the space was created; but over an hour at least, so that
 * the first grant of a new space does not count as a trend.
 */
#ifndef ALLOCATOR_LEDGER_OUTLOOK_H
#define ALLOCATOR_LEDGER_OUTLOOK_H

#include <stdbool.h>

#include "linkstore/space/ledger.h"

struct outlook {
	double days;		  /* the period of the averages */
	double issued_per_day;	  /* blocks, except those handed back unused */
	double reclaimed_per_day; /* blocks */
	double created_per_day;	  /* links */
	uint64_t free; /* blocks: never issued, pooled or quarantined */
	/* Days until no block is free, at these rates; INFINITY: never. */
	double days_left;	  /* if nothing were reclaimed any more */
	double days_left_reclaim; /* with the present rate of reclaiming */
};

/* Returns whether the period is shorter than a day: then the rates a day are
 * those of a part of it, multiplied, and no day has seen them. */
bool outlook_is_extrapolated(const struct outlook *o);

void outlook_compute(const struct space_ledger *ledger, struct outlook *ret);

#endif
