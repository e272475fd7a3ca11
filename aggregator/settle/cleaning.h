/*
 * cleaning.h - deletes what newer attempts superseded.
 */
#ifndef AGGREGATOR_SETTLE_CLEANING_H
#define AGGREGATOR_SETTLE_CLEANING_H

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/*
 * Deletes attempts that were begun before `before_ms` and are not the newest
 * published one: rows of stats_hourly and partitions of link_slots and
 * link_days first, then those of `settled`, so that what is deleted half is
 * looked at again.  Attempts never published (a settler was killed) go with the
 * rest of their day.
 */
int cleaning_run(struct clickhouse *ch, int64_t before_ms, struct error *err);

#endif
