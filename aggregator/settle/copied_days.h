/*
 * copied_days.h - the days that can be read from tables of their own: links'
 * from sealed_slots (see seal.h), owners' from owner_slots and owner_values
 * (see owner_days.h), values of dimensions that hours do not have from these
 * and day_values (see value_days.h), those of all links from stats_spans (see
 * rollups.h).  The others are read from `clicks`, the last ones from
 * stats_hourly.
 */
#ifndef AGGREGATOR_SETTLE_COPIED_DAYS_H
#define AGGREGATOR_SETTLE_COPIED_DAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

enum copied {
	COPIED_LINKS,
	COPIED_OWNERS,
	COPIED_VALUES,
	COPIED_TOTALS,
	COPIED_KINDS,
};

struct copied_day {
	int64_t start;	  /* seconds since 1970, UTC */
	uint64_t attempt; /* its rows' */
	uint64_t events;  /* about so many were reported of it */
	bool dropped;	  /* its rows of `clicks` were */
};

struct copied_days {
	struct copied_day *items; /* ascending */
	size_t count;
	/* Where rows of `clicks` begin that were not dropped, where days begin
	 * that were not dropped or are copied, and settled counts, seconds
	 * since 1970; 0: nothing was. */
	int64_t rows_from, days_from, kept_from;
};

/* Release each after it succeeded. */
int copied_days_read_all(struct clickhouse *ch,
			 struct copied_days ret[COPIED_KINDS],
			 struct error *err);

/* One kind of them, which takes as long. */
int copied_days_read(struct clickhouse *ch, enum copied which,
		     struct copied_days *ret, struct error *err);
void copied_days_release(struct copied_days *days);

/* Leaves out days that are not whole between from and to, or have `at` inside
 * (seconds since 1970).  Returns whether one of these, of which a part is in
 * the range, was dropped. */
bool copied_days_keep_whole(struct copied_days *days, int64_t from, int64_t to,
			    int64_t at);

/* Leaves out days that `others` does not have. */
void copied_days_keep_common(struct copied_days *days,
			     const struct copied_days *others);

/* Of all of them. */
uint64_t copied_days_events(const struct copied_days *days);

/* Writes their starts and their attempts as arrays, for parameters. */
int copied_days_put(const struct copied_days *days, struct buf *starts,
		    struct buf *attempts, struct error *err);

/* SQL: whether a row is of one of these days, and of its attempt.  `starts` and
 * `attempts` are the names of the parameters; `day` is the start of the row's
 * day as UInt32.  It looks a row's day up: to search the lists for each row
 * took more than half of the time of the busiest links. */
#define COPIED_DAYS_SQL(starts, attempts, day)                                 \
	"attempt = transform(" day ", {" starts ":Array(UInt32)}, {" attempts  \
	":Array(UInt64)}, toUInt64(0))"

#endif
