/*
 * reconcile_gauges.h - losses as metrics, over the complete hours of the last
 * day.  Belongs to one thread.
 */
#ifndef AGGREGATOR_RECONCILE_RECONCILE_GAUGES_H
#define AGGREGATOR_RECONCILE_RECONCILE_GAUGES_H

#include "aggregator/reconcile/reconcile.h"
#include "common/metrics/metrics.h"

struct reconcile_gauges {
	struct metric *until, *hours, *unknown_hours, *late, *waiting;
	struct metric *lost[LOST_STEPS], *surplus[LOST_STEPS];
};

void reconcile_gauges_register(struct reconcile_gauges *g, struct metrics *m);

/* Needs at least one hour.  Losses and surpluses are summed apart, and only
 * over passed hours; late and waiting events over all hours. */
void reconcile_gauges_set(struct reconcile_gauges *g,
			  const struct reconciliation *r);

#endif
