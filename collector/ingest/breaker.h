/*
 * breaker.h - a circuit breaker for inserts.  After a failure no insert is sent
 * for a while, and for longer after each failure in a row.  Then one insert at
 * a time is tried, and the first success lets all others run.  Belongs to the
 * polling thread.
 */
#ifndef COLLECTOR_INGEST_BREAKER_H
#define COLLECTOR_INGEST_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"

struct breaker {
	struct log *log;
	struct metric *metric;	   /* 1 while open */
	int64_t retry_backoff_max; /* ms: the longest wait */

	bool open;
	unsigned failures; /* number of failures in a row */
	int64_t retry_at;  /* monotonic */
	/* The insert that is tried; if it takes long, another one is tried. */
	const void *trial;
	int64_t trial_until;
};

/* An insert failed.  Failures at the same time count once. */
void breaker_trip(struct breaker *b, const struct error *err);
/* An insert succeeded, or no insert is left to try. */
void breaker_close(struct breaker *b);

/* Whether an insert may be tried now, while the breaker is open. */
bool breaker_may_try(const struct breaker *b, int64_t now);
void breaker_tries(struct breaker *b, const void *trial, int64_t now);
/* Insert `trial` has ended; it need not be the one that was tried. */
void breaker_ended(struct breaker *b, const void *trial);

#endif
