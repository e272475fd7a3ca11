/*
 * breaker.h - a circuit breaker for inserts: after a failure none is sent until
 * a while has passed, longer after each in a row; then one at a time is tried,
 * and the first that succeeds lets all others go.  Belongs to the polling
 * thread.
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
	unsigned failures; /* in a row */
	int64_t retry_at;  /* monotonic */
	/* The one that is tried; while it takes long, another is tried. */
	const void *trial;
	int64_t trial_until;
};

/* An insert failed.  Those that fail together count once. */
void breaker_trip(struct breaker *b, const struct error *err);
/* An insert succeeded, or none is left to try. */
void breaker_close(struct breaker *b);

/* Whether one may be tried now, while the breaker is open. */
bool breaker_may_try(const struct breaker *b, int64_t now);
void breaker_tries(struct breaker *b, const void *trial, int64_t now);
/* `trial`, whichever it was, has ended. */
void breaker_ended(struct breaker *b, const void *trial);

#endif
