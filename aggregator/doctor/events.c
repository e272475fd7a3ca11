#include "aggregator/doctor/report.h"

#include <inttypes.h>

#include "aggregator/reconcile/reconcile.h"
#include "common/clock.h"

enum {
	HOUR = 3600, /* seconds */
	RECONCILED_HOURS = 24,
};

static void say_reconciled(struct doctor *d, const struct reconciliation *r)
{
	uint64_t lost[LOST_STEPS] = {0}, unknown = 0, told = 0;
	bool any = false;

	for (size_t i = 0; i < r->count; i++) {
		const struct reconciled_hour *h = &r->hours[i];

		told += reconciled_due(h) + h->produced;
		if (h->settling)
			continue;
		if (!reconciled_is_passed(h)) {
			unknown++;
			continue;
		}
		for (enum reconciled_step step = 0; step < LOST_STEPS; step++) {
			int64_t n = reconciled_lost(h, step);

			lost[step] += n > 0 ? (uint64_t)n : 0;
		}
	}
	for (size_t i = 0; i < LOST_STEPS; i++) {
		if (!lost[i])
			continue;
		any = true;
		doctor_say(d, DOCTOR_WRONG, "events", "%" PRIu64 " lost: %s",
			   lost[i], reconciled_step_names[i]);
	}
	if (unknown && !told)
		doctor_say(d, DOCTOR_FINE, "events",
			   "redirectors have reported nothing: losses before "
			   "Kafka are not known (kafka.topic_counters)");
	else if (unknown)
		doctor_say(d, DOCTOR_BEHIND, "events",
			   "of %" PRIu64
			   " of the last %d hours redirectors have not "
			   "reported all; see GET /v1/reconciliation",
			   unknown, RECONCILED_HOURS);
	else if (!any)
		doctor_say(d, DOCTOR_FINE, "events",
			   "none lost in what was settled of the last %d hours",
			   RECONCILED_HOURS);
}

/* Whether they are settled in time is for other lines. */
static void say_waiting(struct doctor *d, const struct reconciliation *r)
{
	uint64_t waiting = 0;

	for (size_t i = 0; i < r->count; i++)
		waiting += reconciled_waiting(&r->hours[i]);
	doctor_say(d, DOCTOR_FINE, "waiting",
		   "%" PRIu64 " events of these hours wait to be settled",
		   waiting);
}

/* Late events are no error: they are counted, and their hours were settled
 * again. */
static void say_late(struct doctor *d, const struct reconciliation *r)
{
	uint64_t late = 0, stored = 0;
	char delay[DURATION_TEXT_MAX];

	for (size_t i = 0; i < r->count; i++) {
		late += r->hours[i].late;
		stored += r->hours[i].stored;
	}
	doctor_say(d, DOCTOR_FINE, "late",
		   "%" PRIu64 " of %" PRIu64
		   " events of these hours came more than %s after their time",
		   late, stored,
		   duration_format(d->settings->clicks.edge_delay, delay));
}

int look_at_events(struct doctor *d, struct error *err)
{
	int64_t to = d->published.complete_until / 1000 / HOUR * HOUR;
	struct reconciliation r;
	int status;

	if (to < RECONCILED_HOURS * HOUR) {
		doctor_say(d, DOCTOR_FINE, "events", "no hour is settled yet");
		return 0;
	}
	status = reconcile(d->ch, &d->settings->clicks,
			   to - RECONCILED_HOURS * HOUR, to, &r, err);
	if (status == 0) {
		say_reconciled(d, &r);
		say_waiting(d, &r);
		say_late(d, &r);
	}
	reconciliation_release(&r);
	return status;
}
