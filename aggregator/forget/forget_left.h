/*
 * forget_left.h - counts of visitors and links that were settled before these
 * were forgotten, and that are still stored.
 *
 * After rows of a day are changed, its hours are settled again and its copies
 * made again.  Earlier attempts, published or staged by a settler that was
 * killed, have values that only one visit may have had (the host of its
 * referrer, its city).  The aggregator that settles deletes them after
 * keep_superseded.
 */
#ifndef AGGREGATOR_FORGET_FORGET_LEFT_H
#define AGGREGATOR_FORGET_FORGET_LEFT_H

#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct forget_left {
	uint64_t waiting; /* hours that have to be settled again */
	uint64_t hours;	  /* earlier attempts of hours */
	uint64_t copies;  /* earlier attempts of copies of days */
};

/*
 * Counts for the days that runs of the last week changed, by any process: hours
 * that were not settled since, and earlier attempts that are still stored.
 * Dropped days are left out, and hours or days that are held back, because
 * these are not settled.
 */
int forget_left_count(struct clickhouse *ch, struct forget_left *ret,
		      struct error *err);

#endif
