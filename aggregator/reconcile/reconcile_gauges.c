#include "aggregator/reconcile/reconcile_gauges.h"

#include <stdio.h>

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
	int64_t lost[LOST_STEPS] = {0}, surplus[LOST_STEPS] = {0};
	size_t known = 0;
	uint64_t late = 0;

	for (size_t i = 0; i < r->count; i++) {
		late += r->hours[i].late;
		if (!reconciled_is_complete(&r->hours[i]))
			continue;
		known++;
		for (enum reconciled_step step = 0; step < LOST_STEPS; step++) {
			int64_t n = reconciled_lost(&r->hours[i], step);

			lost[step] += n > 0 ? n : 0;
			surplus[step] -= n < 0 ? n : 0;
		}
	}
	metric_set(g->late, (int64_t)late);
	metric_set(g->hours, (int64_t)known);
	metric_set(g->unknown_hours, (int64_t)(r->count - known));
	for (size_t i = 0; i < LOST_STEPS; i++) {
		metric_set(g->lost[i], lost[i]);
		metric_set(g->surplus[i], surplus[i]);
	}
	metric_set(g->until, r->hours[r->count - 1].start + HOUR);
}

int reconcile_gauges_update(struct reconcile_gauges *g, struct clickhouse *ch,
			    const struct aggregator_settings *settings,
			    int64_t complete_until, struct error *err)
{
	int64_t now = clock_monotonic_ms();
	int64_t to = complete_until / 1000 / HOUR * HOUR;
	struct reconciliation r = {0};
	int status;

	if (!settings->reconcile_every || now < g->due_at || to < HOURS * HOUR)
		return 0;
	g->due_at = now + settings->reconcile_every;
	status = reconcile(ch, &settings->clicks, to - HOURS * HOUR, to, &r,
			   err);
	if (status == 0)
		reconcile_gauges_set(g, &r);
	reconciliation_release(&r);
	return status;
}
