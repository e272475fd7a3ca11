/*
 * value_days.h - values of the dimensions that hours are not settled by
 * (DIMENSION_DAILY), by UTC day: of all links in day_values, of each owner in
 * owner_values (schemas/clickhouse/day_values.sql).  Counts, no visitors.
 */
#ifndef AGGREGATOR_SETTLE_VALUE_DAYS_H
#define AGGREGATOR_SETTLE_VALUE_DAYS_H

#include "aggregator/settle/day_copy.h"

extern const struct day_copy_kind value_days;

#endif
