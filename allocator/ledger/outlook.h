/*
 * outlook.h - how fast a space is used up, and when it will be, from its
 * ledger.
 *
 * Rates are averages over the last seven whole UTC days and today so far, or
 * since the space was created; over an hour at least, so that the first grant
 * of a new space is not taken for a trend.
 */
#ifndef ALLOCATOR_LEDGER_OUTLOOK_H
#define ALLOCATOR_LEDGER_OUTLOOK_H

#include "linkstore/space/ledger.h"

struct outlook {
	double days;		  /* that the rates are averages over */
	double issued_per_day;	  /* blocks, less those handed back unused */
	double reclaimed_per_day; /* blocks */
	double created_per_day;	  /* links */
	uint64_t free; /* blocks: never issued, pooled or quarantined */
	/* Until none is free, as things go on; INFINITY: never. */
	double days_left;	  /* were nothing reclaimed any more */
	double days_left_reclaim; /* reclaiming as now */
};

void outlook_compute(const struct space_ledger *ledger, struct outlook *ret);

#endif
