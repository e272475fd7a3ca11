/*
 * buckets.h - cuts a time range into hours, days, weeks or months of a zone.
 *
 * Every bound is a multiple of 15 minutes of UTC, the slot of stored counts:
 * offsets since 1972 are such multiples; older ones are rounded down.
 *
 * A bucket never spans a change after which a local time is repeated: when
 * clocks go back, each of the two hours "02" is a bucket of its own, with
 * another offset.  At a change of 30 minutes (Lord Howe) this makes a bucket of
 * half an hour.  Days begin at the first second of their date, weeks on Monday
 * (ISO 8601).
 */
#ifndef AGGREGATOR_ZONE_BUCKETS_H
#define AGGREGATOR_ZONE_BUCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregator/zone/zone.h"
#include "common/error.h"

#define BUCKET_SLOT INT64_C(900) /* seconds */

enum bucket_interval {
	BUCKET_15M,
	BUCKET_HOUR,
	BUCKET_DAY,
	BUCKET_WEEK,
	BUCKET_MONTH,
};

/* Names: "15m", "hour", "day", "week", "month". */
bool bucket_interval_parse(const char *text, enum bucket_interval *ret);
const char *bucket_interval_name(enum bucket_interval interval);

/* Returns the start of the bucket that contains `at`. */
int64_t bucket_start(const struct zone *zone, enum bucket_interval interval,
		     int64_t at);

/* Returns the start of the bucket after the one that contains `at`. */
int64_t bucket_next(const struct zone *zone, enum bucket_interval interval,
		    int64_t at);

struct buckets {
	int64_t *starts; /* ascending; the first is `from` itself */
	size_t count;
};

/*
 * Cuts [from, to).  The first bucket starts at `from` and the last one ends at
 * `to`, even in the middle of an hour or day.  ERROR_INPUT if the range is
 * empty or needs more than `max` buckets.
 */
int buckets_cut(struct buckets *buckets, const struct zone *zone,
		enum bucket_interval interval, int64_t from, int64_t to,
		size_t max, struct error *err);
/* Makes one bucket of a range that begins at `from`. */
int buckets_one(struct buckets *buckets, int64_t from, struct error *err);
void buckets_release(struct buckets *buckets);

/* Returns the index of the bucket that contains `at`, which must not be before
 * the first. */
size_t buckets_find(const struct buckets *buckets, int64_t at);

#endif
