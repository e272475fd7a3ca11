#include "aggregator/api/statistics/period.h"

#include <string.h>

#include "aggregator/zone/civil.h"

#define WEEK	  7
#define YEAR_DAYS (52 * WEEK)

static const char *const periods[] = {
	[PERIOD_TODAY] = "today", [PERIOD_7D] = "7d",	  [PERIOD_30D] = "30d",
	[PERIOD_MONTH] = "month", [PERIOD_YEAR] = "year", [PERIOD_ALL] = "all",
};

static const char *const comparisons[] = {
	[COMPARE_PREVIOUS] = "previous",
	[COMPARE_YEAR] = "year",
};

bool period_parse(const char *text, enum period *ret)
{
	for (int i = PERIOD_TODAY; i <= PERIOD_ALL; i++) {
		if (!strcmp(text, periods[i])) {
			*ret = (enum period)i;
			return true;
		}
	}
	return false;
}

/* Returns the number of the local day. */
static int64_t day_of(const struct zone *zone, int64_t at)
{
	return floor_div(at + zone_offset(zone, at), CIVIL_DAY);
}

static int64_t slot_floor(int64_t at)
{
	return floor_div(at, BUCKET_SLOT) * BUCKET_SLOT;
}

/* Returns the number of the day with which the period begins. */
static int64_t first_day(enum period period, int64_t today)
{
	struct civil c = civil_from_days(today);

	switch (period) {
	case PERIOD_7D:
		return today - 6;
	case PERIOD_30D:
		return today - 29;
	case PERIOD_MONTH:
		return civil_to_days(c.year, c.month, 1);
	case PERIOD_YEAR:
		return civil_to_days(c.year, 1, 1);
	case PERIOD_NONE:
	case PERIOD_TODAY:
	case PERIOD_ALL:
		break;
	}
	return today;
}

int64_t period_start(const struct zone *zone, enum period period, int64_t to)
{
	int64_t day = first_day(period, day_of(zone, to - 1));
	int64_t start = slot_floor(zone_from_local(zone, day * CIVIL_DAY));

	return period == PERIOD_ALL || start < 0 ? 0 : start;
}

enum bucket_interval period_interval(int64_t from, int64_t to)
{
	/* A day more, for clocks that were put back. */
	if (to - from <= 32 * CIVIL_DAY)
		return BUCKET_HOUR;
	return to - from <= 367 * CIVIL_DAY ? BUCKET_DAY : BUCKET_MONTH;
}

bool comparison_parse(const char *text, enum comparison *ret)
{
	for (int i = COMPARE_PREVIOUS; i <= COMPARE_YEAR; i++) {
		if (!strcmp(text, comparisons[i])) {
			*ret = (enum comparison)i;
			return true;
		}
	}
	return false;
}

const char *comparison_name(enum comparison comparison)
{
	return comparisons[comparison];
}

/* Returns the time that a local clock showed so many days before. */
static int64_t days_before(const struct zone *zone, int64_t at, int64_t days)
{
	int64_t local = at + zone_offset(zone, at) - days * CIVIL_DAY;

	return slot_floor(zone_from_local(zone, local));
}

bool comparison_range(const struct zone *zone, enum comparison comparison,
		      int64_t from, int64_t to, int64_t *ret_from,
		      int64_t *ret_to)
{
	int64_t days = YEAR_DAYS;

	if (comparison == COMPARE_PREVIOUS) {
		bool midnight = bucket_start(zone, BUCKET_DAY, from) == from;

		if (!midnight) {
			*ret_from = from - (to - from);
			*ret_to = from;
			return *ret_from >= 0;
		}
		days = day_of(zone, to - 1) - day_of(zone, from) + 1;
		days = (days + WEEK - 1) / WEEK * WEEK;
	}
	*ret_from = days_before(zone, from, days);
	*ret_to = days_before(zone, to, days);
	return *ret_from >= 0 && *ret_from < *ret_to;
}
