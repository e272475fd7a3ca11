/*
 * pass.h - one round of settling: what is stale, computed and published.
 *
 * One thread.
 */
#ifndef AGGREGATOR_SETTLE_PASS_H
#define AGGREGATOR_SETTLE_PASS_H

#include <stdbool.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/settle/lease.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct pass;

/* All must outlive it.  `stopping` is asked between hours. */
struct pass *pass_new(const struct settle_settings *settings,
		      struct clickhouse *ch, struct lease *lease,
		      bool (*stopping)(void *arg), void *arg,
		      struct error *err);
void pass_free(struct pass *pass); /* NULL accepted */

struct pass_result {
	size_t hours;		/* settled */
	size_t days;		/* settled */
	bool more;		/* more is stale: go on at once */
	int64_t complete_until; /* ms; 0: not known */
};

/*
 * Settles the hours that are stale and publishes them together, then at most
 * one day, then deletes what is superseded if it is time.  Losing the lease is
 * ERROR_BUSY, retriable.
 */
int pass_run(struct pass *pass, struct pass_result *ret, struct error *err);

#endif
