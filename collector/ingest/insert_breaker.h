/*
 * insert_breaker.h - a circuit breaker for inserts.  After a failure no insert
 * is sent for a while, and for longer after each failure in a row.  Then one
 * insert at a time is tried, and the first success lets all others run. Belongs
 * to the polling thread.
 */
#ifndef COLLECTOR_INGEST_INSERT_BREAKER_H
#define COLLECTOR_INGEST_INSERT_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"

struct insert_breaker {
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
void insert_breaker_trip(struct insert_breaker *b, const struct error *err);
/* An insert succeeded, or no insert is left to try. */
void insert_breaker_close(struct insert_breaker *b);

/* Whether an insert may be tried now, while the breaker is open. */
bool insert_breaker_may_try(const struct insert_breaker *b, int64_t now);
void insert_breaker_tries(struct insert_breaker *b, const void *trial,
			  int64_t now);
/* Insert `trial` has ended; it need not be the one that was tried. */
void insert_breaker_ended(struct insert_breaker *b, const void *trial);

#endif
