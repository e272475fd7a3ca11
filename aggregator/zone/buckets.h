/*
 * buckets.h - cuts a time range into hours, days, weeks or months of a zone.
 *
 * Every bound is a multiple of 15 minutes of UTC, the slot that counts are kept
 * in: offsets since 1972 are such multiples; older ones are rounded down.
 *
 * A bucket never spans a change that shows a time twice: of the two hours "02"
 * when clocks go back each is a bucket of its own, with another offset.  Around
 * a change of 30 minutes (Lord Howe) that leaves a bucket of half an hour.
 * Days begin at the first instant of their date, weeks on Monday (ISO 8601).
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

/* "15m", "hour", "day", "week", "month". */
bool bucket_interval_parse(const char *text, enum bucket_interval *ret);
const char *bucket_interval_name(enum bucket_interval interval);

/* The start of the bucket that holds `at`. */
int64_t bucket_start(const struct zone *zone, enum bucket_interval interval,
		     int64_t at);

/* The start of the bucket after the one that holds `at`. */
int64_t bucket_next(const struct zone *zone, enum bucket_interval interval,
		    int64_t at);

struct buckets {
	int64_t *starts; /* ascending; the first is `from` itself */
	size_t count;
};

/*
 * Cuts [from, to).  The first bucket starts at `from` and the last one ends at
 * `to`, also when that is in the middle of an hour or day.  More than `max`
 * buckets, or an empty range, is ERROR_INPUT.
 */
int buckets_cut(struct buckets *buckets, const struct zone *zone,
		enum bucket_interval interval, int64_t from, int64_t to,
		size_t max, struct error *err);
void buckets_release(struct buckets *buckets);

/* Which bucket holds `at`, which must not lie before the first. */
size_t buckets_find(const struct buckets *buckets, int64_t at);

#endif
