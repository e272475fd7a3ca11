/*
 * hours.h - settles hours into stats_hourly and publishes them.
 */
#ifndef AGGREGATOR_SETTLE_HOURS_H
#define AGGREGATOR_SETTLE_HOURS_H

#include "aggregator/settle/progress.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/* A number greater than `after`, that no other settler picks: the time in its
 * upper bits, chance in its lower ones. */
uint64_t attempt_next(uint64_t after);

/* The least number picked at that time or later. */
uint64_t attempt_at(int64_t real_ms);

/* Computes `count` hours, in ascending order, under one new attempt; nobody
 * reads it before it is published. */
int hours_compute(struct clickhouse *ch, const struct stale *hours,
		  size_t count, uint64_t attempt, int64_t values_max,
		  struct error *err);

enum settled_kind {
	SETTLED_HOUR,
	SETTLED_DAY,
	SETTLED_PASS,
};

/* One row of `settled`, to be inserted with others in one go. */
struct settled_row {
	enum settled_kind kind;
	struct stale what;
	uint64_t attempt;
};

/* Publishes: inserts the rows, with how far the pass had read. */
int settled_publish(struct clickhouse *ch, const struct settled_row *rows,
		    size_t count, const struct progress *pass,
		    const char *settler, struct error *err);

#endif
