#include "aggregator/reconcile/reconcile_gauges.h"

#include <stdio.h>

#include "aggregator/reconcile/reconciled_hours.h"
#include "common/clock.h"

enum {
	HOURS = 24,
	HOUR = 3600, /* seconds */
};

void reconcile_gauges_register(struct reconcile_gauges *g, struct metrics *m)
{
	char label[64];

	g->until = metrics_gauge(
		m, "shortloop_aggregator_reconciled_until_seconds", NULL,
		"The end of the last hour that was reconciled, seconds since "
		"1970; 0 when none was.");
	g->hours = metrics_gauge(
		m, "shortloop_aggregator_reconciled_hours", NULL,
		"Hours of the last 24 settled ones that every redirector has "
		"told all of.");
	g->unknown_hours = metrics_gauge(
		m, "shortloop_aggregator_unknown_hours", NULL,
		"The others: a redirector has not told all of them.");
	g->late = metrics_gauge(
		m, "shortloop_aggregator_late_events", NULL,
		"Of the last 24 settled hours: events that Kafka stored more "
		"than clicks.edge_delay after their time.");
	for (size_t i = 0; i < LOST_STEPS; i++) {
		snprintf(label, sizeof(label), "between=\"%s\"",
			 reconciled_step_names[i]);
		g->lost[i] = metrics_gauge(
			m, "shortloop_aggregator_lost_events", label,
			"Events of the hours reconciled that are there before "
			"a step and not after it.");
		g->surplus[i] = metrics_gauge(
			m, "shortloop_aggregator_surplus_events", label,
			"Events that are there after a step and not before "
			"it.");
	}
}

void reconcile_gauges_set(struct reconcile_gauges *g,
			  const struct reconciliation *r)
{
	struct reconciled_sum sum;

	reconciliation_sum(r, &sum);
	metric_set(g->late, (int64_t)sum.late);
	metric_set(g->hours, (int64_t)sum.hours);
	metric_set(g->unknown_hours, (int64_t)sum.unknown_hours);
	for (size_t i = 0; i < LOST_STEPS; i++) {
		metric_set(g->lost[i], sum.lost[i]);
		metric_set(g->surplus[i], sum.surplus[i]);
	}
	metric_set(g->until, r->hours[r->count - 1].start + HOUR);
}

/* With what came late until it was sealed. */
static int keep_day(struct clickhouse *ch,
		    const struct aggregator_settings *settings, int64_t day,
		    struct error *err)
{
	struct reconciliation r = {0};
	int status = reconcile(ch, &settings->clicks, day, day + HOURS * HOUR,
			       &r, err);

	if (status == 0)
		status = reconciled_hours_store(ch, &r, err);
	reconciliation_release(&r);
	return status;
}

int reconcile_gauges_update(struct reconcile_gauges *g, struct clickhouse *ch,
			    const struct aggregator_settings *settings,
			    int64_t complete_until, struct error *err)
{
	int64_t now = clock_monotonic_ms();
	int64_t to = complete_until / 1000 / HOUR * HOUR;
	struct reconciliation r = {0};
	int64_t day = -1;
	int status;

	if (!settings->reconcile_every || now < g->due_at || to < HOURS * HOUR)
		return 0;
	g->due_at = now + settings->reconcile_every;
	status = reconcile(ch, &settings->clicks, to - HOURS * HOUR, to, &r,
			   err);
	if (status == 0) {
		reconcile_gauges_set(g, &r);
		status = reconciled_hours_store(ch, &r, err);
	}
	reconciliation_release(&r);
	if (status == 0)
		status = reconciled_hours_due(ch, &day, err);
	return status == 0 && day >= 0 ? keep_day(ch, settings, day, err)
				       : status;
}
