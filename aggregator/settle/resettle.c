#include "aggregator/settle/resettle.h"

#include "aggregator/settle/days.h"
#include "aggregator/settle/hours.h"
#include "aggregator/zone/civil.h"

#define HOUR 3600

static int settle_hours(const struct settling *s, const struct stale_list *list,
			struct resettle_result *ret, struct error *err)
{
	struct progress last;
	struct settle_count n;

	for (size_t i = 0; i < list->count; i += n.done) {
		size_t count = list->count - i;

		if (progress_read_last(s->ch, &last, err) < 0 ||
		    hours_settle(s, &list->items[i],
				 count < HOURS_MAX ? count : HOURS_MAX, &last,
				 &n, err) < 0)
			return -1;
		ret->hours += n.published;
		ret->held += n.done - n.published;
	}
	return 0;
}

static int settle_days(const struct settling *s, const struct stale_list *list,
		       struct resettle_result *ret, struct error *err)
{
	int64_t closed = settling_now(s) - s->settings->day_grace;
	struct progress last;
	struct settle_count n;

	for (size_t i = 0; i < list->count; i++) {
		if ((list->items[i].start + CIVIL_DAY) * 1000 > closed)
			break;
		if (progress_read_last(s->ch, &last, err) < 0 ||
		    days_settle(s, &list->items[i], &last, &n, err) < 0)
			return -1;
		ret->days += n.published;
		ret->held += n.done - n.published;
	}
	return 0;
}

int resettle_run(const struct settling *s, int64_t from, int64_t to,
		 struct resettle_result *ret, struct error *err)
{
	struct stale_list hours = {0}, days = {0};
	int status;

	*ret = (struct resettle_result){0};
	from = floor_div(from, HOUR) * HOUR;
	to = floor_div(to + HOUR - 1, HOUR) * HOUR;
	status = progress_hours_of(s->ch, from, to, &hours, err);
	if (status == 0)
		status = settle_hours(s, &hours, ret, err);
	if (status == 0)
		status = progress_days_of(s->ch, from, to, &days, err);
	if (status == 0)
		status = settle_days(s, &days, ret, err);
	stale_list_release(&hours);
	stale_list_release(&days);
	return status;
}
