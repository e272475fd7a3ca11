/*
 * unfinished_runs.h - runs of `aggregator forget` and `collector rescore` that
 * were begun over a day and did not end, as they were killed.  Until somebody
 * ends it, the day is not dropped, and its hours are not settled from what the
 * run changed.
 */
#ifndef AGGREGATOR_DOCTOR_UNFINISHED_RUNS_H
#define AGGREGATOR_DOCTOR_UNFINISHED_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/aggregator_config.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct unfinished_run {
	int64_t day;	  /* its start, seconds since 1970, UTC */
	const char *host; /* the process; valid during the call */
	bool is_rescore;  /* false: `aggregator forget` */
	bool is_over;	  /* it is too old to go on; false: it may */
};

/* Calls `fn` for each, in the order of their days. */
int unfinished_runs_for_each(struct clickhouse *ch,
			     const struct aggregator_settings *settings,
			     int (*fn)(void *arg,
				       const struct unfinished_run *run,
				       struct error *err),
			     void *arg, struct error *err);

#endif
