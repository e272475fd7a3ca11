/*
 * reconcile_day.h - reconciles a day and stores the result
 * (reconciled_hours.h).
 */
#ifndef AGGREGATOR_RECONCILE_RECONCILE_DAY_H
#define AGGREGATOR_RECONCILE_RECONCILE_DAY_H

#include <stdint.h>

#include "aggregator/reconcile/reconcile.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "linkstore/clicks_config.h"

/* Reconciles the 24 hours from `from` (seconds, a whole hour) on.  The caller
 * calls reconciliation_release for *ret, also after a failure. */
int reconcile_day(struct clickhouse *ch, const struct clicks_config *clicks,
		  int64_t from, struct reconciliation *ret, struct error *err);

#endif
