/*
 * forget_left.h - what was settled of visitors and links before they were
 * forgotten, and is still stored.
 *
 * When rows of a day are changed its hours are settled again, and copies of it
 * made again.  What was published until then, and what a settler that was
 * killed had staged, has values that only one visit may have had (the host of
 * its referrer, its city), and is deleted by the aggregator that settles, after
 * keep_superseded.
 */
#ifndef AGGREGATOR_FORGET_FORGET_LEFT_H
#define AGGREGATOR_FORGET_FORGET_LEFT_H

#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct forget_left {
	uint64_t waiting; /* hours that are to be settled again */
	uint64_t hours;	  /* attempts of before */
	uint64_t copies;  /* the same of days */
};

/*
 * Of days that runs of the last week changed, whoever ran them: hours that were
 * not settled since, and what is stored of before.  Not of days that are
 * dropped, nor of what is held back, which nothing settles.
 */
int forget_left_count(struct clickhouse *ch, struct forget_left *ret,
		      struct error *err);

#endif
