/*
 * retry.h - when a thread that settles retries after a failure, and what it
 * logs.  One for each thread.
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
	struct metric *failures; /* the counter of failures */
	unsigned in_a_row;	 /* set to 0 after each success */
};

/* Counts and logs the failure, unless the thread is stopping.  Returns the ms
 * to wait. */
int64_t retry_after(struct retry *retry, const struct error *err,
		    bool stopping);

#endif
