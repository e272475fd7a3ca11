/*
 * answer_cache.h - a cache of ClickHouse's answers about settled counts, which
 * are still valid a moment later.  Dashboards repeat the same questions about
 * all links: a repeated query is sent once, also when it comes from several
 * threads at the same time.  Thread-safe.
 */
#ifndef AGGREGATOR_API_ANSWER_CACHE_H
#define AGGREGATOR_API_ANSWER_CACHE_H

#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/clickhouse/rows.h"
#include "common/error.h"
#include "common/metrics/metrics.h"

struct answer_cache;

/* A query, as for clickhouse_rows: a statement over settled hours and days
 * whose attempts are parameters. */
struct answer_of {
	const char *sql;
	const struct clickhouse_param *params;
	const char *columns;
	int64_t deadline; /* clock_monotonic_ms */
};

/* Holds at most `bytes`; 0 disables the cache.  The metrics count its answers.
 */
struct answer_cache *answer_cache_new(int64_t bytes, struct metrics *metrics,
				      struct error *err);
void answer_cache_free(struct answer_cache *cache); /* NULL accepted */

/*
 * Like clickhouse_rows.  While another thread runs the same query, this call
 * waits for that answer until the deadline.  If that thread fails, this call
 * runs the query itself.
 */
int answer_cache_rows(struct answer_cache *cache, struct clickhouse *ch,
		      const struct answer_of *what, clickhouse_row_fn *fn,
		      void *arg, struct error *err);

#endif
