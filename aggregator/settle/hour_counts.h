/*
 * hour_counts.h - what was counted of an hour before it is published, and what
 * follows from it.
 *
 * Rows of `clicks` only ever come, but for those that an operator deletes or
 * takes back.  So what was computed has at least the rows that were there
 * before it was computed, and at most those that were there after it.
 *
 * Pure functions, for any thread.
 */
#ifndef AGGREGATOR_SETTLE_HOUR_COUNTS_H
#define AGGREGATOR_SETTLE_HOUR_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/settle/progress.h"
#include "aggregator/settle/taken_back.h"
#include "common/error.h"

struct hour_counts {
	uint64_t least, most;	 /* rows of clicks before and after */
	uint64_t staged;	 /* events under the attempt, or
				  * SETTLE_SQL_UNEVEN */
	uint64_t before;	 /* events published until now */
	struct taken_back taken; /* of those rows */
	uint64_t base;		 /* events that are in all of these four */
};

/* ERROR_PROTOCOL when what is staged is not what the rows say: a statement was
 * carried out twice, or by half, or not at all.  `start` is for the message. */
int hour_counts_check_staged(const struct hour_counts *n, int64_t start,
			     struct error *err);

/* Whether fewer events are staged than were published, or than the reports in
 * `hour` say.  Then `taken` is to be counted; it is zero until then. */
bool hour_counts_miss_some(const struct hour_counts *n,
			   const struct stale *hour);

/*
 * Whether more rows are missing than were when the hour was published, and than
 * were taken back.  What is reported of a day that was dropped has nothing of
 * the base.
 */
bool hour_counts_lack_rows(const struct hour_counts *n,
			   const struct stale *hour);

enum hour_decision {
	HOUR_PUBLISHED,
	HOUR_PUBLISHED_SHORT, /* and reported */
	HOUR_HELD_BACK,	      /* and reported; what was published stays */
};

/*
 * Rows may be missing that collectors reported before the hour was first
 * settled: then it is published, and reported.  What has gone missing since is
 * what holds it back, unless `allow_fewer`.
 */
enum hour_decision hour_counts_decide(const struct hour_counts *n,
				      const struct stale *hour,
				      bool allow_fewer);

#endif
