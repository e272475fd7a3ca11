/*
 * rollups.h - counts over all links by whole UTC days, and their totals by
 * hour, combined from the slots of stats_hourly
 * (schemas/clickhouse/stats_spans.sql).
 */
#ifndef AGGREGATOR_SETTLE_ROLLUPS_H
#define AGGREGATOR_SETTLE_ROLLUPS_H

#include "aggregator/settle/day_copy.h"

extern const struct day_copy_kind rolled_days;

#endif
