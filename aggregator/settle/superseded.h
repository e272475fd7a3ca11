/*
 * superseded.h - deletes attempts that are read no more.
 */
#ifndef AGGREGATOR_SETTLE_SUPERSEDED_H
#define AGGREGATOR_SETTLE_SUPERSEDED_H

#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/* Deletes attempts that were begun before `before_ms` (by ClickHouse's clock)
 * and are not the newest published one, nor in the base of a dropped day. */
int superseded_delete(struct clickhouse *ch, int64_t before_ms,
		      struct error *err);

/*
 * An hour that is not over has a new attempt in most passes, each with all of
 * its rows: those that a newer one superseded `keep_ms` ago go at once.  Only
 * published ones; what a settler left behind goes with the others.
 */
int superseded_delete_open(struct clickhouse *ch, int64_t now_ms,
			   int64_t keep_ms, struct error *err);

#endif
