/*
 * day_counts.h - counts of a day before its links are published, and the
 * decisions that follow from them.
 *
 * Pure functions, for any thread.
 */
#ifndef AGGREGATOR_SETTLE_DAY_COUNTS_H
#define AGGREGATOR_SETTLE_DAY_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/settle/taken_back.h"
#include "common/error.h"

/* Events in link_slots and in link_days. */
struct link_events {
	uint64_t slots, visits;
};

struct day_counts {
	uint64_t all, of_links; /* rows of clicks */
	uint64_t repeated;	/* rows with the outcome 'repeated' */
	uint64_t hours;		/* events published in the day's hours */
	struct link_events staged, before;
	struct taken_back taken; /* rows taken back since `before` */
};

/* ERROR_PROTOCOL if one of the two tables has fewer events under the attempt
 * than `least`, or more than `most`. */
int day_counts_check_staged(const struct day_counts *n, uint64_t least,
			    uint64_t most, struct error *err);

/* Whether fewer events are staged than were published, apart from those that
 * were taken back. */
bool day_counts_have_fewer(const struct day_counts *n);

/*
 * Whether rows of the day's hours are gone: the hours have more events than
 * there are rows. day_counts_lack_more is true if more are missing than were
 * taken back.
 */
bool day_counts_lack_rows(const struct day_counts *n);
bool day_counts_lack_more(const struct day_counts *n);

#endif
