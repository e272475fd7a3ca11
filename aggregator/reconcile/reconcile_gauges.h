/*
 * reconcile_gauges.h - what is lost, as metrics: over the hours of the last day
 * that are complete.  Belongs to one thread.
 */
#ifndef AGGREGATOR_RECONCILE_RECONCILE_GAUGES_H
#define AGGREGATOR_RECONCILE_RECONCILE_GAUGES_H

#include "aggregator/reconcile/reconcile.h"
#include "common/metrics/metrics.h"

struct reconcile_gauges {
	struct metric *until, *hours, *unknown_hours, *late;
	struct metric *lost[LOST_STEPS], *surplus[LOST_STEPS];
};

void reconcile_gauges_register(struct reconcile_gauges *g, struct metrics *m);

/* Of at least one hour.  What is lost and what is too much are summed up apart,
 * and only over hours that are complete; what was late over all of them. */
void reconcile_gauges_set(struct reconcile_gauges *g,
			  const struct reconciliation *r);

#endif
