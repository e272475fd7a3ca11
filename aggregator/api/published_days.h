/*
 * published_days.h - which attempts of links' days (link_days) are read, and
 * whether all that should be in their counts is.
 *
 * A day is settled when it has been over for a while, whatever partitions of
 * Kafka still hold of it: that it is published does not say that it is
 * complete.
 */
#ifndef AGGREGATOR_API_PUBLISHED_DAYS_H
#define AGGREGATOR_API_PUBLISHED_DAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/settle/progress.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct published_day {
	int64_t start;	  /* seconds since 1970, UTC */
	uint64_t attempt; /* 0: hours of it are published, the day is not */
	bool complete;	  /* its counts change by late clicks only */
};

struct published_days {
	struct published_day *items; /* ascending */
	size_t count;
};

/* The days in [from, to), full days (seconds since 1970), that are published or
 * have published hours.  `last` was read before.  Release after success. */
int published_days_read(struct clickhouse *ch, int64_t from, int64_t to,
			const struct progress *last, struct published_days *ret,
			struct error *err);
void published_days_release(struct published_days *days);

/* Up to when (ms since 1970, the start of a day) the counts of whole days are
 * complete: no day before it is in the list that is not.  0: not known. */
int64_t published_days_complete_until(const struct published_days *days,
				      const struct progress *last);

/* Up to when (seconds since 1970, the start of a day) all there is of [from,
 * to) is published, but for days before the last that is: the end of that one,
 * and of days behind it of which there are no hours and the watermark says that
 * none come. */
int64_t published_days_settled_until(const struct published_days *days,
				     int64_t from, int64_t to,
				     const struct progress *last);

#endif
