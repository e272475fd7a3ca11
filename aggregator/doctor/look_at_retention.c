#include "aggregator/doctor/report.h"

#include <inttypes.h>

#include "aggregator/settle/drop.h"
#include "aggregator/zone/civil.h"

struct old_days {
	int64_t first; /* the first waiting day, seconds since 1970 */
	uint64_t waiting, ready;
};

static int count_old(void *arg, const struct old_day *day, struct error *err)
{
	struct old_days *old = arg;

	(void)err;
	if (day->dropped)
		return 0;
	if (day->sealed && day->settled)
		old->ready++;
	else if (!old->waiting++)
		old->first = day->start;
	return 0;
}

int look_at_retention(struct doctor *d, struct error *err)
{
	struct old_days old = {0};
	struct progress last;
	char text[CIVIL_NAME_MAX];

	if (!d->settings->raw_days) {
		doctor_say(d, DOCTOR_FINE, "retention",
			   "rows of clicks are kept for ever");
		return 0;
	}
	if (progress_read_last(d->ch, &last, err) < 0 ||
	    drop_for_each_old(&d->settling, &last, count_old, &old, err) < 0)
		return -1;
	if (old.waiting)
		doctor_say(d, DOCTOR_BEHIND, "retention",
			   "%" PRIu64
			   " day%s older than raw_days cannot be dropped, from "
			   "%s on: see 'aggregator retention --dry-run'",
			   old.waiting, doctor_plural(old.waiting),
			   civil_day_name(old.first, text));
	else
		doctor_say(d, DOCTOR_FINE, "retention",
			   "%" PRIu64 " day%s to be dropped", old.ready,
			   doctor_plural(old.ready));
	return 0;
}
