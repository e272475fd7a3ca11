/*
 * answer_cache.h - answers of ClickHouse about settled counts, which are as
 * good a moment later.  Dashboards ask the same of all links again and again:
 * what they ask twice is asked once, also at the same time.  Any thread may
 * call.
 */
#ifndef AGGREGATOR_API_ANSWER_CACHE_H
#define AGGREGATOR_API_ANSWER_CACHE_H

#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/clickhouse/rows.h"
#include "common/error.h"
#include "common/metrics/metrics.h"

struct answer_cache;

/* What is asked, as of clickhouse_rows: a statement over settled hours and days
 * whose attempts are parameters. */
struct answer_of {
	const char *sql;
	const struct clickhouse_param *params;
	const char *columns;
	int64_t deadline; /* of clock_monotonic_ms */
};

/* Of `bytes` at most, 0 for none; the metrics count what it answered. */
struct answer_cache *answer_cache_new(int64_t bytes, struct metrics *metrics,
				      struct error *err);
void answer_cache_free(struct answer_cache *cache); /* NULL accepted */

/*
 * As clickhouse_rows.  While another thread asks the same it waits for that
 * answer, until the deadline; should that thread fail, it asks itself.
 */
int answer_cache_rows(struct answer_cache *cache, struct clickhouse *ch,
		      const struct answer_of *what, clickhouse_row_fn *fn,
		      void *arg, struct error *err);

#endif
