#include "allocator/ledger/outlook.h"

#include <math.h>

#include "common/clock.h"

/* Returns for how many days of the ledger the space has existed. */
static double window_days(const struct space_ledger *ledger)
{
	int64_t since = ledger->now / CLOCK_DAY * CLOCK_DAY -
			(LEDGER_DAYS - 1) * CLOCK_DAY;

	if (ledger->created > since)
		since = ledger->created;
	if (ledger->now - since < CLOCK_HOUR)
		since = ledger->now - CLOCK_HOUR;
	return (double)(ledger->now - since) / (double)CLOCK_DAY;
}

static struct space_day sum_days(const struct space_ledger *ledger)
{
	struct space_day sum = {0};

	for (int i = 0; i < LEDGER_DAYS; i++) {
		sum.granted += ledger->days[i].granted;
		sum.handed_back += ledger->days[i].handed_back;
		sum.reclaimed += ledger->days[i].reclaimed;
		sum.links_created += ledger->days[i].links_created;
	}
	return sum;
}

static double days_until_none(uint64_t free, double used_per_day)
{
	return used_per_day > 0 ? (double)free / used_per_day : INFINITY;
}

bool outlook_is_extrapolated(const struct outlook *o)
{
	return o->days < 1;
}

void outlook_compute(const struct space_ledger *ledger, struct outlook *ret)
{
	struct space_day sum = sum_days(ledger);
	double days = window_days(ledger);
	uint64_t granted = sum.granted > sum.handed_back
				   ? sum.granted - sum.handed_back
				   : 0;
	uint64_t fresh = ledger->capacity > ledger->cursor
				 ? ledger->capacity - ledger->cursor
				 : 0;

	*ret = (struct outlook){
		.days = days,
		.issued_per_day = (double)granted / days,
		.reclaimed_per_day = (double)sum.reclaimed / days,
		.created_per_day = (double)sum.links_created / days,
		.free = fresh + ledger->pooled + ledger->quarantined,
	};
	ret->days_left = days_until_none(ret->free, ret->issued_per_day);
	ret->days_left_reclaim = days_until_none(
		ret->free, ret->issued_per_day - ret->reclaimed_per_day);
}
