#include "aggregator/doctor/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "aggregator/doctor/differences.h"
#include "aggregator/zone/civil.h"
#include "common/clock.h"

/* Delay before differences are queried again. */
#define AGAIN_MS 3000

/* A line of the page. */
struct compared_pair {
	enum compared kind;
	const char *what, *one, *other;
};
static const struct compared_pair comparisons[] = {
	{COMPARED_ROWS, "rows", "rows of clicks", "events in hours"},
	{COMPARED_HOUR_VALUES, "hours' values", "events in hours",
	 "events by each dimension"},
	{COMPARED_LINK_SLOTS, "links' slots", "visits in days",
	 "visits in slots"},
	{COMPARED_SEALED, "sealed days", "visits in days", "events sealed"},
	{COMPARED_OWNERS, "owners' rows", "visits in days", "events of owners"},
	{COMPARED_OWNER_VALUES, "owners' values", "visits in days",
	 "events of owners by each dimension"},
	{COMPARED_OWNER_DAILY, "owners' daily", "visits in days",
	 "events of owners by those of days"},
	{COMPARED_VALUES, "values' rows", "events in hours",
	 "events of values"},
	{COMPARED_ROLLUPS, "rolled up", "events in hours", "events rolled up"},
};

/* Writes " in city and 4 dimensions more". */
static void name_dimensions(const struct difference *it, char ret[96])
{
	*ret = '\0';
	if (*it->first && it->dimensions > 1)
		snprintf(ret, 96, " in %s and %" PRIu64 " dimension%s more",
			 it->first, it->dimensions - 1,
			 doctor_plural(it->dimensions - 1));
	else if (*it->first)
		snprintf(ret, 96, " in %s", it->first);
}

/* Writes how to repair a difference: settled counts that are gone can be made
 * again from rows, while these exist. */
static void name_remedy(enum compared kind, const struct difference *it,
			char ret[160])
{
	char from[CIVIL_NAME_MAX], to[CIVIL_NAME_MAX];

	if (kind == COMPARED_ROWS && it->one < it->other)
		snprintf(ret, 160, "rows are gone: see 'collector verify'");
	else if (it->dropped)
		snprintf(ret, 160,
			 "the day's rows are dropped: only a backup has it");
	else
		snprintf(ret, 160, "run 'aggregator settle --from %s --to %s'",
			 civil_day_name(it->day, from),
			 civil_day_name(it->day + CLOCK_DAY / 1000, to));
}

static void say_difference(struct doctor *d, const struct compared_pair *c,
			   const struct difference *it)
{
	char day[CIVIL_NAME_MAX], dimensions[96], remedy[160];

	name_dimensions(it, dimensions);
	name_remedy(c->kind, it, remedy);
	doctor_say(d, DOCTOR_WRONG, c->what,
		   "%s: %" PRIu64 " %s, %" PRIu64 " %s%s; %s",
		   civil_day_name(it->day, day), it->one, c->one, it->other,
		   c->other, dimensions, remedy);
}

static void say_differences(struct doctor *d, const struct compared_pair *c,
			    const struct difference_list *list)
{
	size_t count = 0;
	char looked[96] = "";

	for (size_t i = 0; i < list->count; i++) {
		if (doctor_is_stale(d, list->items[i].day))
			continue;
		if (count++ < DOCTOR_DAYS_SHOWN)
			say_difference(d, c, &list->items[i]);
	}
	if (list->looked < list->partitions)
		snprintf(looked, sizeof(looked),
			 "; in the %" PRIu64 " of %" PRIu64
			 " %s written last (raw_rows_max)",
			 list->looked, list->partitions,
			 list->are_months ? "months" : "days");
	if (count > DOCTOR_DAYS_SHOWN)
		doctor_say(d, DOCTOR_WRONG, c->what, "and %zu more days",
			   count - DOCTOR_DAYS_SHOWN);
	if (!count)
		doctor_say(d, DOCTOR_FINE, c->what,
			   "as many %s as %s, day by day%s", c->one, c->other,
			   looked);
}

/* Clicks that come in during the queries make tables differ for a moment: a
 * difference counts only if it has the same numbers some seconds later. */
static int confirm_differences(struct doctor *d, enum compared kind,
			       struct difference_list *list, struct error *err)
{
	struct difference_list later;
	int status;

	if (app_should_stop(d->app, AGAIN_MS))
		return error_set(err, ERROR_STOPPED, "stopped");
	status = differences_find(d->ch, kind, d->settings->raw_rows_max,
				  &later, err);
	if (status == 0)
		difference_list_keep(list, &later);
	difference_list_release(&later);
	return status;
}

static int check_comparison(struct doctor *d, const struct compared_pair *c,
			    struct error *err)
{
	struct difference_list list;
	int status = differences_find(d->ch, c->kind, d->settings->raw_rows_max,
				      &list, err);

	if (status == 0 && list.count)
		status = confirm_differences(d, c->kind, &list, err);
	if (status == 0)
		say_differences(d, c, &list);
	difference_list_release(&list);
	return status;
}

int look_at_comparisons(struct doctor *d, struct error *err)
{
	for (size_t i = 0; i < sizeof(comparisons) / sizeof(*comparisons); i++)
		if (check_comparison(d, &comparisons[i], err) < 0)
			return -1;
	return 0;
}
