/*
 * published_days.h - which attempts of links' days (link_days) are read, and
 * whether their counts are complete.
 *
 * A day is settled when it has been over for a while, whatever partitions of
 * Kafka still hold of it: a published day may be incomplete.
 */
#ifndef AGGREGATOR_API_PUBLISHED_DAYS_H
#define AGGREGATOR_API_PUBLISHED_DAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/progress.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct published_day {
	int64_t start;	  /* seconds since 1970, UTC */
	uint64_t attempt; /* 0: hours of it are published, the day is not */
	/* The day's counts are those of its hours, none of which was settled
	 * later, the watermark has passed it, and none of its reported rows
	 * waits. */
	bool complete;
	/* The day is over, and its counts lack what has been reported of it. */
	bool waiting;
};

struct published_days {
	struct published_day *items; /* ascending */
	size_t count;
};

/* Days are compared with this, which is read before them. */
struct days_reading {
	struct progress last;
	int64_t now;	    /* ClickHouse's clock, ms since 1970 */
	int64_t overlap_ms; /* setting progress_overlap */
};

/* Reads the days in [from, to), whole days (seconds since 1970), that are
 * published, have published hours, or wait.  Release after success. */
int published_days_read(struct clickhouse *ch, int64_t from, int64_t to,
			const struct days_reading *reading,
			struct published_days *ret, struct error *err);
void published_days_release(struct published_days *days);

/* Returns the time up to which (ms since 1970, the start of a day) the counts
 * of whole days since `from` (seconds) are complete: no listed day between is
 * incomplete.  0: not known. */
int64_t published_days_complete_until(const struct published_days *days,
				      int64_t from,
				      const struct progress *last);

/* Returns the time up to which (seconds since 1970, the start of a day) all of
 * [from, to) is published, not counting gaps before the last published day: the
 * end of that day, or of the days behind it that have no hours and that the
 * watermark has passed. */
int64_t published_days_settled_until(const struct published_days *days,
				     int64_t from, int64_t to,
				     const struct progress *last);

#endif
