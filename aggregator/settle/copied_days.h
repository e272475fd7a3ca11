/*
 * copied_days.h - the days that can be read from the tables of a copy
 * (derived_tables.h): links, owners, values of dimensions that hours do not
 * have, totals of all links.  Other days are read from `clicks`, and for totals
 * from stats_hourly.
 */
#ifndef AGGREGATOR_SETTLE_COPIED_DAYS_H
#define AGGREGATOR_SETTLE_COPIED_DAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/settle/derived_tables.h"
#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct copied_day {
	int64_t start;	  /* seconds since 1970, UTC */
	uint64_t attempt; /* the attempt of its rows */
	uint64_t events;  /* about the number of events reported for it */
	bool dropped;	  /* its rows in `clicks` were dropped */
};

struct copied_days {
	struct copied_day *items; /* ascending */
	size_t count;
	/*
	 * Seconds since 1970 at which these begin: rows of `clicks` that were
	 * not dropped; days that were not dropped or are copied; settled
	 * counts.  0: nothing was dropped.
	 */
	int64_t rows_from, days_from, kept_from;
};

/* The caller releases each of the lists on success. */
int copied_days_read_all(struct clickhouse *ch,
			 struct copied_days ret[COPIED_KINDS],
			 struct error *err);

/* Reads one kind of days.  This takes as long as reading all. */
int copied_days_read(struct clickhouse *ch, enum copied which,
		     struct copied_days *ret, struct error *err);
void copied_days_release(struct copied_days *days);

/*
 * Removes days that are not entirely within [from, to), or that have `at`
 * inside (seconds since 1970).  Returns whether one of the removed days that
 * lie partly in the range was dropped.
 */
bool copied_days_keep_whole(struct copied_days *days, int64_t from, int64_t to,
			    int64_t at);

/* Removes days that `others` does not have. */
void copied_days_keep_common(struct copied_days *days,
			     const struct copied_days *others);

/* Returns the sum of the events of all days. */
uint64_t copied_days_events(const struct copied_days *days);

/*
 * Writes the starts and the attempts of the days as arrays, for parameters.
 * Statements look up a row's day by transform(): a search of the lists for each
 * row took more than half of the time for the busiest links.
 */
int copied_days_put(const struct copied_days *days, struct buf *starts,
		    struct buf *attempts, struct error *err);

#endif
