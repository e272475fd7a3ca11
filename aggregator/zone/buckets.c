#include "aggregator/zone/buckets.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/zone/civil.h"

#define HOUR 3600

static const char *const names[] = {
	[BUCKET_15M] = "15m",	[BUCKET_HOUR] = "hour",	  [BUCKET_DAY] = "day",
	[BUCKET_WEEK] = "week", [BUCKET_MONTH] = "month",
};

bool bucket_interval_parse(const char *text, enum bucket_interval *ret)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(text, names[i])) {
			*ret = (enum bucket_interval)i;
			return true;
		}
	}
	return false;
}

const char *bucket_interval_name(enum bucket_interval interval)
{
	return names[interval];
}

static int64_t slot_floor(int64_t at)
{
	return floor_div(at, BUCKET_SLOT) * BUCKET_SLOT;
}

/* Returns the first day of the day, week or month that `day` is in, plus
 * `steps` such units. */
static int64_t unit_day(enum bucket_interval interval, int64_t day, int steps)
{
	struct civil c;

	if (interval == BUCKET_DAY)
		return day + steps;
	if (interval == BUCKET_WEEK)
		return day - (civil_weekday(day) + 6) % 7 + 7 * steps;
	c = civil_from_days(day);
	c.month += steps;
	if (c.month > 12) {
		c.month -= 12;
		c.year++;
	}
	return civil_to_days(c.year, c.month, 1);
}

static int64_t day_start(const struct zone *zone, int64_t day)
{
	return slot_floor(zone_from_local(zone, day * CIVIL_DAY));
}

/* If local midnight occurs twice, the local date can be before the day that has
 * begun, so the search starts one unit earlier. */
static int64_t calendar_start(const struct zone *zone,
			      enum bucket_interval interval, int64_t at,
			      int64_t *ret_next)
{
	int64_t today = floor_div(at + zone_offset(zone, at), CIVIL_DAY);
	int64_t day = unit_day(interval, unit_day(interval, today, 0) - 1, 0);
	int64_t start = day_start(zone, day), next;

	for (;; start = next) {
		day = unit_day(interval, day, 1);
		next = day_start(zone, day);
		if (next > at)
			break;
	}
	*ret_next = next;
	return start;
}

static int64_t hour_start(const struct zone *zone, int64_t at,
			  int64_t *ret_next)
{
	int32_t offset = zone_offset(zone, at);
	int64_t start = floor_div(at + offset, HOUR) * HOUR - offset;
	int64_t last = zone_last_change(zone, at);
	int64_t change = zone_next_change(zone, at);

	*ret_next = slot_floor(start + HOUR);
	if (*ret_next <= at) /* an offset that is no multiple of a slot */
		*ret_next += BUCKET_SLOT;
	if (change != INT64_MAX && slot_floor(change) < *ret_next &&
	    slot_floor(change) > at)
		*ret_next = slot_floor(change);
	return slot_floor(last > start ? last : start);
}

static int64_t find_bucket_bounds(const struct zone *zone,
				  enum bucket_interval interval, int64_t at,
				  int64_t *ret_next)
{
	switch (interval) {
	case BUCKET_15M:
		*ret_next = slot_floor(at) + BUCKET_SLOT;
		return slot_floor(at);
	case BUCKET_HOUR:
		return hour_start(zone, at, ret_next);
	case BUCKET_DAY:
	case BUCKET_WEEK:
	case BUCKET_MONTH:
		break;
	}
	return calendar_start(zone, interval, at, ret_next);
}

int64_t bucket_start(const struct zone *zone, enum bucket_interval interval,
		     int64_t at)
{
	int64_t next;

	return find_bucket_bounds(zone, interval, at, &next);
}

int64_t bucket_next(const struct zone *zone, enum bucket_interval interval,
		    int64_t at)
{
	int64_t next;

	find_bucket_bounds(zone, interval, at, &next);
	return next;
}

int buckets_cut(struct buckets *buckets, const struct zone *zone,
		enum bucket_interval interval, int64_t from, int64_t to,
		size_t max, struct error *err)
{
	*buckets = (struct buckets){0};
	if (from >= to)
		return error_set(err, ERROR_INPUT,
				 "from must lie before to: the range is empty");
	buckets->starts = calloc(max + 1, sizeof(*buckets->starts));
	if (!buckets->starts)
		return error_set_nomem(err);
	while (from < to) {
		if (buckets->count == max) {
			buckets_release(buckets);
			return error_set(err, ERROR_INPUT,
					 "the range has more than %zu "
					 "intervals of one %s: ask for a "
					 "shorter range or longer intervals",
					 max, names[interval]);
		}
		buckets->starts[buckets->count++] = from;
		from = bucket_next(zone, interval, from);
	}
	return 0;
}

int buckets_one(struct buckets *buckets, int64_t from, struct error *err)
{
	*buckets = (struct buckets){malloc(sizeof(*buckets->starts)), 1};
	if (!buckets->starts)
		return error_set_nomem(err);
	buckets->starts[0] = from;
	return 0;
}

void buckets_release(struct buckets *buckets)
{
	free(buckets->starts);
	*buckets = (struct buckets){0};
}

size_t buckets_find(const struct buckets *buckets, int64_t at)
{
	size_t low = 0, high = buckets->count;

	while (high - low > 1) {
		size_t mid = (low + high) / 2;

		if (buckets->starts[mid] <= at)
			low = mid;
		else
			high = mid;
	}
	return low;
}
