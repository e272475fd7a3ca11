#include "aggregator/doctor/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "aggregator/zone/civil.h"
#include "common/buf.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

/* Returns how long ago anything was settled, in ms; -1: never.  Times in the
 * future come from a clock that was ahead, and are ignored. */
static int read_idle(struct doctor *d, int64_t *ret_ms, struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/last_settled.sql.inc"
		;
	uint64_t n[2] = {0};
	int64_t idle;

	if (clickhouse_numbers(d->ch, sql, NULL, n, 2, err) < 0)
		return error_wrap(err, "settled");
	idle = settling_now(&d->settling) - (int64_t)n[0];
	if (idle < 0)
		idle = 0;
	*ret_ms = n[1] ? idle : -1;
	return 0;
}

/* Counts the hours that wait although all of their blocks were reported long
 * ago.  Hours that are held back are left out: they have a line of their own.
 */
static int count_overdue_hours(struct doctor *d, size_t *ret, struct error *err)
{
	int64_t before = settling_now(&d->settling) - DOCTOR_DAY_AGE;
	struct stale_list stale;

	*ret = 0;
	if (progress_stale_hours(d->ch, 0, 0, false, &stale, err) < 0)
		return -1;
	for (size_t i = 0; i < stale.count; i++)
		*ret += stale.items[i].reported_at < before;
	stale_list_release(&stale);
	return 0;
}

static void say_hours(struct doctor *d, const struct stale_list *stale,
		      bool idle, size_t overdue)
{
	char first[CIVIL_NAME_MAX];

	civil_hour_name(stale->items[0].start, first);
	if (idle)
		doctor_say(d, DOCTOR_BEHIND, "hours",
			   "%zu to be settled, from %s on, and no process "
			   "settles: is an aggregator running?",
			   stale->count, first);
	else if (overdue)
		doctor_say(d, DOCTOR_BEHIND, "hours",
			   "%zu to be settled, from %s on, %zu of them with "
			   "clicks that waited for longer than %d hours: see "
			   "the aggregators' logs",
			   stale->count, first, overdue,
			   (int)(DOCTOR_DAY_AGE / CLOCK_HOUR));
	else
		doctor_say(d, DOCTOR_FINE, "hours",
			   "%zu to be settled, from %s on", stale->count,
			   first);
}

int look_at_hours(struct doctor *d, struct error *err)
{
	const struct stale_list *stale = &d->hours;
	int64_t idle = -1,
		patience = 4 * d->settings->settle_every + CLOCK_MINUTE;
	size_t overdue = 0;

	if (read_idle(d, &idle, err) < 0 ||
	    (stale->count && count_overdue_hours(d, &overdue, err) < 0))
		return -1;
	if (stale->count)
		say_hours(d, stale, idle < 0 || idle > patience, overdue);
	else
		doctor_say(d, DOCTOR_FINE, "hours",
			   "all that were reported are settled");
	return 0;
}

/* Writes "[...]": the starts of the days that were settled before. */
static void put_settled_before(struct buf *list, const struct stale_list *days)
{
	const char *comma = "";

	buf_putc(list, '[');
	for (size_t i = 0; i < days->count; i++) {
		if (!days->items[i].was)
			continue;
		buf_printf(list, "%s%" PRId64, comma, days->items[i].start);
		comma = ",";
	}
	buf_putc(list, ']');
}

/* Counts the days that have an hour which was settled after its day so long ago
 * that the day is overdue. */
static int count_overdue(struct doctor *d, struct buf *days, uint64_t *ret,
			 struct error *err)
{
	static const char sql[] =
#include "aggregator/sql/overdue_days.sql.inc"
		;
	char longest[24];
	const struct clickhouse_param params[] = {
		{"param_longest", longest},
		{"param_days", buf_cstr(days)},
		{NULL, NULL}};

	if (!params[1].value)
		return error_set_nomem(err);
	snprintf(longest, sizeof(longest), "%" PRId64,
		 d->settings->resettle_every + DOCTOR_DAY_AGE);
	if (clickhouse_numbers(d->ch, sql, params, ret, 1, err) < 0)
		return error_wrap(err, "settled days");
	return 0;
}

/* Days that are held back are left out: they have a line of their own. */
static int read_overdue(struct doctor *d, int64_t closed_before, uint64_t *ret,
			struct error *err)
{
	const struct days_due due = {.closed_before = closed_before,
				     .not_since = PROGRESS_LAST,
				     .corrected_since = PROGRESS_LAST};
	struct stale_list stale;
	struct buf days = {0};
	int status = 0;

	*ret = 0;
	if (progress_stale_days(d->ch, &due, false, &stale, err) < 0)
		return -1;
	put_settled_before(&days, &stale);
	if (stale.count)
		status = count_overdue(d, &days, ret, err);
	buf_free(&days);
	stale_list_release(&stale);
	return status;
}

static void say_days(struct doctor *d, const struct stale_list *stale,
		     uint64_t overdue)
{
	char first[CIVIL_NAME_MAX];
	uint64_t fresh = 0;

	for (size_t i = 0; i < stale->count; i++)
		fresh += !stale->items[i].was;
	if (!stale->count)
		doctor_say(d, DOCTOR_FINE, "days",
			   "all that have ended are settled");
	else
		doctor_say(d, fresh || overdue ? DOCTOR_BEHIND : DOCTOR_FINE,
			   "days",
			   "%zu to be settled, from %s on, %" PRIu64
			   " of them for the first time, %" PRIu64
			   " with late clicks that waited for longer than %d "
			   "hours",
			   stale->count,
			   civil_day_name(stale->items[0].start, first), fresh,
			   overdue, (int)(DOCTOR_DAY_AGE / CLOCK_HOUR));
}

int look_at_days(struct doctor *d, struct error *err)
{
	int64_t closed_before = settling_now(&d->settling) -
				d->settings->day_grace - DOCTOR_DAY_AGE;
	const struct days_due due = {.closed_before = closed_before,
				     .not_since = PROGRESS_LAST,
				     .corrected_since = PROGRESS_LAST};
	struct stale_list stale;
	uint64_t overdue = 0;
	int status = 0;

	if (progress_stale_days(d->ch, &due, true, &stale, err) < 0)
		return -1;
	if (stale.count)
		status = read_overdue(d, closed_before, &overdue, err);
	if (status == 0)
		say_days(d, &stale, overdue);
	stale_list_release(&stale);
	return status;
}

int look_at_held(struct doctor *d, struct error *err)
{
	struct held_back held;
	char first[CIVIL_NAME_MAX];

	if (progress_held_back(d->ch, &held, err) < 0)
		return -1;
	if (held.hours || held.days)
		doctor_say(d, DOCTOR_WRONG, "held back",
			   "%" PRIu64 " hour%s and %" PRIu64
			   " day%s, from %s on: rows that were settled are "
			   "gone; see 'aggregator settle'",
			   held.hours, doctor_plural(held.hours), held.days,
			   doctor_plural(held.days),
			   civil_hour_name(held.first, first));
	else
		doctor_say(d, DOCTOR_FINE, "held back", "nothing");
	return 0;
}
