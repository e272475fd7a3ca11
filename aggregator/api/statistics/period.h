/*
 * period.h - ranges by name, and the ranges that they are compared with, in the
 * calendar of a zone.  Pure functions; times are seconds since 1970.
 */
#ifndef AGGREGATOR_API_STATISTICS_PERIOD_H
#define AGGREGATOR_API_STATISTICS_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/zone/buckets.h"
#include "aggregator/zone/zone.h"

enum period {
	PERIOD_NONE, /* the range has other ends */
	PERIOD_TODAY,
	PERIOD_7D,  /* today and the six days before */
	PERIOD_30D, /* today and the 29 days before */
	PERIOD_MONTH,
	PERIOD_YEAR,
	PERIOD_ALL,
};

/* Names: "today", "7d", "30d", "month", "year", "all". */
bool period_parse(const char *text, enum period *ret);

/* Returns the midnight at which a period begins that ends at `to`, the end of
 * the present quarter of an hour; never before 1970.  PERIOD_ALL begins in
 * 1970. */
int64_t period_start(const struct zone *zone, enum period period, int64_t to);

/* Returns the interval of a range that was named without one: hours up to 31
 * days, days up to 366, months of a longer one. */
enum bucket_interval period_interval(int64_t from, int64_t to);

enum comparison {
	COMPARE_NONE,
	COMPARE_PREVIOUS,
	COMPARE_YEAR,
};

/* Names: "previous", "year". */
bool comparison_parse(const char *text, enum comparison *ret);
const char *comparison_name(enum comparison comparison);

/*
 * Moves a range back by whole weeks of the zone's calendar, so that weekdays
 * match, and the time of day of both ends stays: the previous one by as many
 * weeks as the range has, or has begun; a year by 52 weeks.  A previous range
 * that does not begin at midnight is the one of as many seconds just before.
 * Returns false if the range would begin before 1970, or a change of the clock
 * leaves nothing of it.
 */
bool comparison_range(const struct zone *zone, enum comparison comparison,
		      int64_t from, int64_t to, int64_t *ret_from,
		      int64_t *ret_to);

#endif
