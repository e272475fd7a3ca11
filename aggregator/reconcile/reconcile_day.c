#include "aggregator/reconcile/reconcile_day.h"

#include "aggregator/reconcile/reconciled_hours.h"
#include "aggregator/zone/civil.h"

int reconcile_day(struct clickhouse *ch, const struct clicks_config *clicks,
		  int64_t from, struct reconciliation *ret, struct error *err)
{
	if (reconcile(ch, clicks, from, from + CIVIL_DAY, ret, err) < 0)
		return -1;
	return reconciled_hours_store(ch, ret, err);
}
