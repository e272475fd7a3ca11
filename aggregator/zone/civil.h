/*
 * civil.h - dates of the Gregorian calendar as day numbers.
 *
 * Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
 * Day 0 is 1970-01-01, a Thursday.
 */
#ifndef AGGREGATOR_ZONE_CIVIL_H
#define AGGREGATOR_ZONE_CIVIL_H

#include <stdint.h>

#define CIVIL_DAY INT64_C(86400) /* seconds */

struct civil {
	int64_t year;
	int month; /* 1 to 12 */
	int day;   /* 1 to 31 */
};

int64_t civil_to_days(int64_t year, int month, int day);
struct civil civil_from_days(int64_t days);

/* Names of the UTC day or hour that begins at `start`, seconds since 1970:
 * "2026-10-24", "2026-10-24T07Z".  Return `text`. */
#define CIVIL_NAME_MAX 64
const char *civil_day_name(int64_t start, char text[CIVIL_NAME_MAX]);
const char *civil_hour_name(int64_t start, char text[CIVIL_NAME_MAX]);

/* 0 is Sunday, 1 Monday, ... 6 Saturday. */
int civil_weekday(int64_t days);

/* n / d, rounded towards minus infinity; d > 0. */
int64_t floor_div(int64_t n, int64_t d);

#endif
