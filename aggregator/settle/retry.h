/*
 * retry.h - when a thread that settles tries again after a failure, and what is
 * said of it.  One for each thread.
 */
#ifndef AGGREGATOR_SETTLE_RETRY_H
#define AGGREGATOR_SETTLE_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"

struct retry {
	struct log *log;
	struct metric *failures; /* counted in */
	unsigned in_a_row;	 /* set to 0 by what goes well */
};

/* Counts and logs the failure, unless it is one of a thread that is to stop.
 * Returns ms to wait. */
int64_t retry_after(struct retry *retry, const struct error *err,
		    bool stopping);

#endif
