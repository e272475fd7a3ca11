#include "aggregator/reconcile/reconcile_gauges.h"

#include <stdio.h>

#define HOUR 3600 /* seconds */

void reconcile_gauges_register(struct reconcile_gauges *g, struct metrics *m)
{
	char label[64];

	g->until = metrics_gauge(
		m, "shortloop_aggregator_reconciled_until_seconds", NULL,
		"The end of the last hour that was reconciled, seconds since "
		"1970; 0 when none was.");
	g->hours =
		metrics_gauge(m, "shortloop_aggregator_reconciled_hours", NULL,
			      "Hours, of the last 24 settled ones, of which "
			      "every redirector has reported all.");
	g->unknown_hours = metrics_gauge(
		m, "shortloop_aggregator_unknown_hours", NULL,
		"The others: a redirector has not reported all of them.");
	g->late = metrics_gauge(
		m, "shortloop_aggregator_late_events", NULL,
		"Of the last 24 settled hours: events that Kafka stored more "
		"than clicks.edge_delay after their time.");
	g->waiting = metrics_gauge(
		m, "shortloop_aggregator_waiting_events", NULL,
		"Of the last 24 settled hours: events that are stored and wait "
		"to be settled.");
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
	metric_set(g->waiting, (int64_t)sum.waiting);
	metric_set(g->hours, (int64_t)sum.hours);
	metric_set(g->unknown_hours, (int64_t)sum.unknown_hours);
	for (size_t i = 0; i < LOST_STEPS; i++) {
		metric_set(g->lost[i], sum.lost[i]);
		metric_set(g->surplus[i], sum.surplus[i]);
	}
	metric_set(g->until, r->hours[r->count - 1].start + HOUR);
}
