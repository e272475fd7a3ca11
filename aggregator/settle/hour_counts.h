/*
 * hour_counts.h - counts of an hour before it is published, and the decisions
 * that follow from them.
 *
 * Rows are only ever added to `clicks`, apart from rows that an operator
 * deletes or takes back.  So a computed attempt has at least the rows that
 * existed before it was computed, and at most those that existed after it.
 *
 * Pure functions, for any thread.
 */
#ifndef AGGREGATOR_SETTLE_HOUR_COUNTS_H
#define AGGREGATOR_SETTLE_HOUR_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/progress.h"
#include "aggregator/settle/taken_back.h"
#include "common/error.h"

struct hour_counts {
	uint64_t least, most;	 /* rows of clicks before and after */
	uint64_t staged;	 /* events under the attempt, or
				  * SETTLE_SQL_UNEVEN */
	uint64_t before;	 /* events that are published so far */
	struct taken_back taken; /* rows that were taken back */
	uint64_t base;		 /* events that are included in all four */
};

/* ERROR_PROTOCOL if the staged events do not match the rows: a statement was
 * carried out twice, or in part, or not at all.  `start` is for the message. */
int hour_counts_check_staged(const struct hour_counts *n, int64_t start,
			     struct error *err);

/* Whether fewer events are staged than were published, or than the reports in
 * `hour` have.  If so, `taken` has to be counted; it is zero until then. */
bool hour_counts_miss_some(const struct hour_counts *n,
			   const struct stale *hour);

/*
 * Whether more rows are missing than when the hour was published, beyond those
 * that were taken back.  The reports of a dropped day do not include the base.
 */
bool hour_counts_lack_rows(const struct hour_counts *n,
			   const struct stale *hour);

enum hour_decision {
	HOUR_PUBLISHED,
	HOUR_PUBLISHED_SHORT, /* published, and reported as short */
	HOUR_HELD_BACK, /* held back, and reported; published counts stay */
};

/*
 * Rows that were already missing when the hour was first settled do not hold it
 * back: it is published, and reported.  Rows that went missing since then hold
 * it back, unless `allow_fewer`.
 */
enum hour_decision hour_counts_decide(const struct hour_counts *n,
				      const struct stale *hour,
				      bool allow_fewer);

#endif
